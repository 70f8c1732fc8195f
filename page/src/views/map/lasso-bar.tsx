/** What the lasso has selected: how many items, a few of them, and what can be done with them. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Client } from "../../api/client";
import type { MapGroup } from "../../api/schema";
import type { Slots } from "../../components/group-colours";
import { Item } from "../../components/item";
import { Keys } from "../../components/keys";
import { Swatch } from "../../components/swatch";
import { count, number } from "../../format";
import { MAX_ITEMS_PER_ACT } from "../../workspace/use-acts";
import { sample, useItems } from "./item-cache";
import type { Points } from "./points";
import "./lasso-bar.css";

const MAX_PREVIEWS = 8;
const MAX_GROUPS = 3;

interface Props {
  client: Client;
  selected: readonly number[];
  /** At the top, because the selected points are at the bottom. */
  above: boolean;
  points: Points;
  groups: readonly MapGroup[];
  slots: Slots;
  busy: boolean;
  together: () => void;
  move: () => void;
  cancel: () => void;
}

/** How many of the points are in which group, the most frequent one first. */
export function countByGroup(
  selected: readonly number[],
  points: Points,
  groups: readonly MapGroup[],
): [MapGroup, number][] {
  const counts = new Map<number, number>();
  for (const k of selected) {
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
  const { client, selected, above, points, groups, slots, busy, together, move, cancel } = props;
  const bar = useRef<HTMLDivElement>(null);
  const previews = useItems(client, sample(selected, MAX_PREVIEWS));
  const counts = countByGroup(selected, points, groups);
  const tooMany = selected.length > MAX_ITEMS_PER_ACT;
  const tooFew = selected.length < 2;
  // Return confirms, so the focus leaves the map, where Return does nothing.
  useLayoutEffect(() => bar.current?.focus({ preventScroll: true }), [selected]);
  return (
    <div
      class={above ? "lasso-bar above" : "lasso-bar"}
      role="region"
      aria-label="Selected items"
      tabIndex={-1}
      ref={bar}
    >
      <div class="lasso-items">
        {previews.map((item, k) => (
          <div key={item?.id ?? k} class="lasso-item">
            {item && <Item item={item} size="small" />}
          </div>
        ))}
      </div>
      <div class="lasso-summary">
        <p role="status">
          <strong>{count(selected.length, "item")}</strong>{" "}
          {counts.length === 1 ? "from one group" : `from ${count(counts.length, "group")}`}
        </p>
        <p class="lasso-groups">
          {counts.slice(0, MAX_GROUPS).map(([group, n]) => (
            <span key={group.number}>
              <Swatch slot={slots.of(group.number)} /> {number(n)} {group.name}
            </span>
          ))}
          {counts.length > MAX_GROUPS && <span class="muted">and {counts.length - MAX_GROUPS} more</span>}
        </p>
        {tooMany && (
          <p class="muted">At most {number(MAX_ITEMS_PER_ACT)} items at a time. Draw a smaller loop.</p>
        )}
      </div>
      <div class="lasso-actions">
        <button
          type="button"
          class="primary"
          disabled={busy || tooMany || tooFew}
          aria-keyshortcuts="Enter"
          onClick={together}
        >
          <Keys keys={["Enter"]} /> These are the same kind
        </button>
        <button type="button" disabled={busy || tooMany} aria-keyshortcuts="g" onClick={move}>
          <Keys keys={["g"]} /> Move to…
        </button>
        <button type="button" class="quiet" aria-keyshortcuts="Escape" onClick={cancel}>
          <Keys keys={["Esc"]} /> Cancel
        </button>
      </div>
    </div>
  );
}
