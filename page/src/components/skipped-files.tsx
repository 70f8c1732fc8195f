/** Files that were left out, and why. */

import type { SkippedView } from "../api/schema";
import { count } from "../format";
import "./skipped-files.css";

export function SkippedFiles({ total, files }: { total: number; files: SkippedView[] }) {
  if (total === 0) return null;
  return (
    <details>
      <summary>{count(total, "file")} skipped</summary>
      <ul class="skipped">
        {files.map(({ id, reason }) => (
          <li key={id}>
            <code>{id}</code> {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}
