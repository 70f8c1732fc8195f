/** The share of a group's items that are expected to belong there. */

import { percent } from "../../format";

/** Shares above this round to 100%, but an estimate is never certain. */
const NEARLY_ALL = 0.995;

export function Purity({ share }: { share: number | null }) {
  if (share === null) return <span class="purity muted">fit not known yet</span>;
  const label = share >= NEARLY_ALL ? "over 99%" : `about ${percent(share)}`;
  return (
    <span class="purity" title="The share of items that probably belong here">
      <span class="purity-bar" aria-hidden="true">
        <span style={{ width: percent(share) }} />
      </span>
      <span>{label} fit</span>
    </span>
  );
}
