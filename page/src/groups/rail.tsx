/** Beside the items of a group: places to let items go on, one per group. */

import type { GroupCard } from "../acts-api";
import type { Desk } from "../desk";
import { ItemView } from "../items/item";
import { slotsOf } from "../map/colours";
import { Link } from "../parts/link";
import { useTarget } from "./drag";
import { Swatch } from "./swatch";

/** With more groups than this the rows have no picture. */
const WITH_PICTURES = 40;

interface Props {
  desk: Desk;
  groups: readonly GroupCard[];
  move: (items: number[], to: number) => void;
  split: (items: number[]) => void;
  out: (items: number[]) => void;
}

function Place({ words, take }: { words: string; take: (items: number[]) => void }) {
  const { over, target } = useTarget(
    (load) => "items" in load,
    (load) => "items" in load && take(load.items),
  );
  return (
    <div class={over ? "rail-place over" : "rail-place"} {...target}>
      {words}
    </div>
  );
}

interface RowProps {
  group: GroupCard;
  slot: number;
  picture: boolean;
  take: (items: number[]) => void;
}

function Row({ group, slot, picture, take }: RowProps) {
  const { over, target } = useTarget(
    (load) => "items" in load,
    (load) => "items" in load && take(load.items),
  );
  const typical = group.representatives[0];
  return (
    <li class={over ? "rail-row over" : "rail-row"} data-group={group.number} {...target}>
      <Link to={`/groups/${group.number}`}>
        {picture && typical && <ItemView item={typical} size="small" />}
        <Swatch slot={slot} />
        <span class="rail-name">{group.name}</span>
        <span class="quiet-text">{group.size.toLocaleString("en")}</span>
      </Link>
    </li>
  );
}

export function Rail({ desk, groups, move, split, out }: Props) {
  const slots = slotsOf(desk.api);
  return (
    <aside class="rail" aria-label="Other groups">
      <p class="quiet-text">Drag items here:</p>
      <Place words="A kind of their own" take={split} />
      <Place words="Does not belong here" take={out} />
      <ul>
        {groups.map((group) => (
          <Row
            key={group.number}
            group={group}
            slot={slots.of(group.number)}
            picture={groups.length <= WITH_PICTURES}
            take={(items) => move(items, group.number)}
          />
        ))}
      </ul>
    </aside>
  );
}
