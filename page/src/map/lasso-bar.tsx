/** What a loop has caught, before anything is told: how many, a few of them, and what they are. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { MOST_ITEMS, type ActsApi, type MapGroup } from "../acts-api";
import { Swatch } from "../groups/swatch";
import { ItemView } from "../items/item";
import { count } from "../parts/progress";
import { Keys } from "../questions/button";
import type { Slots } from "./colours";
import type { Points } from "./points";
import { spread, useItems } from "./previews";

const PREVIEWS = 8;
const GROUPS = 3;

interface Props {
  api: ActsApi;
  caught: readonly number[];
  /** The bar lies where the points are not. */
  above: boolean;
  points: Points;
  groups: readonly MapGroup[];
  slots: Slots;
  busy: boolean;
  together: () => void;
  move: () => void;
  cancel: () => void;
}

/** How many of the points are in which group, the most frequent first. */
export function shares(
  caught: readonly number[],
  points: Points,
  groups: readonly MapGroup[],
): [MapGroup, number][] {
  const counts = new Map<number, number>();
  for (const k of caught) {
    const index = points.group[k] ?? 0;
    counts.set(index, (counts.get(index) ?? 0) + 1);
  }
  return [...counts]
    .flatMap(([index, n]): [MapGroup, number][] => {
      const group = groups[index];
      return group ? [[group, n]] : [];
    })
    .sort((a, b) => b[1] - a[1]);
}

export function LassoBar(props: Props) {
  const { api, caught, above, points, groups, slots, busy, together, move, cancel } = props;
  const bar = useRef<HTMLDivElement>(null);
  const shown = useItems(api, spread(caught, PREVIEWS));
  const parts = shares(caught, points, groups);
  const many = caught.length > MOST_ITEMS;
  const few = caught.length < 2;
  // Return confirms: the focus leaves the map, where Return means nothing.
  useLayoutEffect(() => bar.current?.focus({ preventScroll: true }), [caught]);
  return (
    <div
      class={above ? "lasso-bar above" : "lasso-bar"}
      role="region"
      aria-label="What the loop has caught"
      tabIndex={-1}
      ref={bar}
    >
      <div class="caught-items">
        {shown.map((item, k) => (
          <div key={item?.id ?? k} class="caught-item">
            {item && <ItemView item={item} size="small" />}
          </div>
        ))}
      </div>
      <div class="caught-words">
        <p role="status">
          <strong>{count(caught.length, "item")}</strong>{" "}
          {parts.length === 1 ? "from one group" : `from ${count(parts.length, "group")}`}
        </p>
        <p class="caught-groups">
          {parts.slice(0, GROUPS).map(([group, n]) => (
            <span key={group.number}>
              <Swatch slot={slots.of(group.number)} /> {n.toLocaleString("en")} {group.name}
            </span>
          ))}
          {parts.length > GROUPS && <span class="quiet-text">and {parts.length - GROUPS} more</span>}
        </p>
        {many && (
          <p class="quiet-text">
            At most {MOST_ITEMS.toLocaleString("en")} at a time: draw a smaller loop.
          </p>
        )}
      </div>
      <div class="caught-acts">
        <button
          type="button"
          class="main-act"
          disabled={busy || many || few}
          aria-keyshortcuts="Enter"
          onClick={together}
        >
          <Keys keys={["Enter"]} /> These are one kind
        </button>
        <button type="button" disabled={busy || many} aria-keyshortcuts="g" onClick={move}>
          <Keys keys={["g"]} /> Move to group …
        </button>
        <button type="button" class="quiet" aria-keyshortcuts="Escape" onClick={cancel}>
          <Keys keys={["Esc"]} /> Cancel
        </button>
      </div>
    </div>
  );
}
