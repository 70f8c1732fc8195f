/** One line: how far the sorting is, and when the groups are updated next. */

import type { Progress } from "../api/schema";
import { count } from "../format";
import { Link } from "./link";

function nextUpdate(progress: Progress): string {
  if (progress.refitting) return "updating groups…";
  if (progress.until_refit <= 0) return "update due";
  return `update in ${progress.until_refit}`;
}

/** The beginning of the sentence about the quality, short enough for one line. */
export function headline({ quality, enough }: Pick<Progress, "quality" | "enough">): string {
  const share = quality.match(/^(About|Over) \d+ % right/)?.[0];
  if (!share) return "Check quality";
  return enough ? `${share.replace("About ", "")}, you can stop` : share;
}

export function ProgressLine({ progress }: { progress: Progress }) {
  return (
    <p class="progress" role="status">
      <span>{count(progress.answers, "answer")}</span>
      <span>{count(progress.groups, "group")}</span>
      <span class={progress.refitting ? "working" : ""}>{nextUpdate(progress)}</span>
      {progress.quality && (
        <span class={progress.enough ? "quality enough" : "quality"}>
          <Link to="/progress" title={progress.quality}>
            {headline(progress)}
          </Link>
        </span>
      )}
    </p>
  );
}
