/** One line: how far this is, and what comes next. */

import type { Progress } from "../api";
import { Link } from "./link";

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

function next(progress: Progress): string {
  if (progress.refitting) return "refreshing the groups …";
  if (progress.until_refit <= 0) return "refresh soon";
  return `refresh in ${progress.until_refit}`;
}

export function ProgressLine({ progress }: { progress: Progress }) {
  return (
    <p class="progress" role="status">
      <span>{count(progress.answers, "answer")}</span>
      <span>{count(progress.groups, "group")}</span>
      <span class={progress.refitting ? "working" : ""}>{next(progress)}</span>
      {progress.quality && (
        <span class={progress.enough ? "quality enough" : "quality"}>
          <Link to="/progress" title={progress.quality}>
            {progress.enough ? "you may stop" : "how good?"}
          </Link>
        </span>
      )}
    </p>
  );
}
