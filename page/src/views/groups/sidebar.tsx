/** Drop targets beside the items of a group, one per group. */

import type { GroupCard } from "../../api/schema";
import { slotsFor } from "../../components/group-colours";
import { Item } from "../../components/item";
import { Link } from "../../components/link";
import { Swatch } from "../../components/swatch";
import { number } from "../../format";
import type { Workspace } from "../../workspace/use-workspace";
import { useDropTarget } from "./drag";
import "./sidebar.css";

/** With more groups than this the rows have no pictures. */
const MAX_WITH_PICTURES = 40;

interface Props {
  workspace: Workspace;
  groups: readonly GroupCard[];
  move: (items: number[], to: number) => void;
  split: (items: number[]) => void;
  remove: (items: number[]) => void;
}

function useItemTarget(drop: (items: number[]) => void) {
  return useDropTarget(
    (dragged) => "items" in dragged,
    (dragged) => "items" in dragged && drop(dragged.items),
  );
}

function Target({ label, drop }: { label: string; drop: (items: number[]) => void }) {
  const { over, handlers } = useItemTarget(drop);
  return (
    <div class={over ? "sidebar-target over" : "sidebar-target"} {...handlers}>
      {label}
    </div>
  );
}

interface RowProps {
  group: GroupCard;
  slot: number;
  picture: boolean;
  drop: (items: number[]) => void;
}

function Row({ group, slot, picture, drop }: RowProps) {
  const { over, handlers } = useItemTarget(drop);
  const typical = group.representatives[0];
  return (
    <li class={over ? "sidebar-row over" : "sidebar-row"} data-group={group.number} {...handlers}>
      <Link to={`/groups/${group.number}`}>
        {picture && typical && <Item item={typical} size="small" />}
        <Swatch slot={slot} />
        <span class="sidebar-name">{group.name}</span>
        <span class="muted">{number(group.size)}</span>
      </Link>
    </li>
  );
}

export function Sidebar({ workspace, groups, move, split, remove }: Props) {
  const slots = slotsFor(workspace.client);
  return (
    <aside class="sidebar" aria-label="Other groups">
      <p class="muted">Drag items here:</p>
      <Target label="New group" drop={split} />
      <Target label="Not in this group" drop={remove} />
      <ul>
        {groups.map((group) => (
          <Row
            key={group.number}
            group={group}
            slot={slots.of(group.number)}
            picture={groups.length <= MAX_WITH_PICTURES}
            drop={(items) => move(items, group.number)}
          />
        ))}
      </ul>
    </aside>
  );
}
