/** The probability of each number of groups, as bars that read as a list. */

import type { GroupCount } from "../../api/schema";
import { percent } from "../../format";

/** More numbers than these are not drawn: the least probable ones at the ends are left out. */
const MAX_BARS = 18;

interface Bar extends GroupCount {
  current: boolean;
}

/** One bar for each number of groups between the least and the most, the present number among them. */
export function barsOf(counts: GroupCount[], current: number): Bar[] {
  const shares = new Map(counts.map(({ groups, share }) => [groups, share]));
  const numbers = [...shares.keys(), current];
  let low = Math.min(...numbers);
  let high = Math.max(...numbers);
  while (high - low >= MAX_BARS) {
    const dropLow = low !== current && ((shares.get(low) ?? 0) <= (shares.get(high) ?? 0) || high === current);
    if (dropLow) low += 1;
    else high -= 1;
  }
  return Array.from({ length: high - low + 1 }, (_, k) => {
    const groups = low + k;
    return { groups, share: shares.get(groups) ?? 0, current: groups === current };
  });
}

export function CountChart({ counts, current }: { counts: GroupCount[]; current: number }) {
  const bars = barsOf(counts, current);
  const max = Math.max(...bars.map(({ share }) => share), 1e-9);
  return (
    <ol class="count-chart" aria-label="Probability of each number of groups">
      {bars.map(({ groups, share, current }) => (
        <li key={groups} class={current ? "current" : ""} title={`${groups}: ${percent(share)}`}>
          <span class="visually-hidden">
            {groups} {groups === 1 ? "group" : "groups"}: {percent(share)}
            {current && ", the present number"}
          </span>
          <span class="count-share" aria-hidden="true">
            {current ? percent(share) : ""}
          </span>
          <span class="count-bar" aria-hidden="true" style={{ "--share": share / max }} />
          <span class="count-number" aria-hidden="true">
            {groups}
          </span>
          <span class="count-now" aria-hidden="true">
            {current ? "now" : ""}
          </span>
        </li>
      ))}
    </ol>
  );
}
