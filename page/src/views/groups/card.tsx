/** A group among all groups: its name and size, typical items, uncertain items. */

import type { GroupCard } from "../../api/schema";
import { Item } from "../../components/item";
import { Link } from "../../components/link";
import { Swatch } from "../../components/swatch";
import { count } from "../../format";
import type { Workspace } from "../../workspace/use-workspace";
import { type Dragged, draggable, useDropTarget } from "./drag";
import { GroupName } from "./group-name";
import { KeyWords } from "./key-words";
import { Purity } from "./purity";
import "./card.css";

interface Props {
  workspace: Workspace;
  group: GroupCard;
  words: readonly string[] | undefined;
  selected: boolean;
  /** Whether it was changed, and the groups are not updated yet. */
  pending: boolean;
  /** Its position in the list, for screen readers. */
  position: { index: number; total: number };
  toggle: () => void;
  renamed: () => void;
  drop: (dragged: Dragged) => void;
}

/** The part of a group's address that lists the least certain items first. */
export const DOUBTFUL_HASH = "#doubtful";

function DoubtfulItems({ group }: { group: GroupCard }) {
  return (
    <Link
      to={`/groups/${group.number}`}
      hash={DOUBTFUL_HASH}
      className="doubtful-items"
      label={`${count(group.doubtful.length, "uncertain item")} of ${group.name}. See all items, least certain first`}
    >
      <span class="muted">Uncertain</span>
      {group.doubtful.map((item) => (
        <span
          key={item.id}
          class="doubtful-item"
          {...draggable(
            () => ({ items: [item.position], from: group.number }),
            () => item.id,
          )}
        >
          <Item item={item} size="small" />
        </span>
      ))}
    </Link>
  );
}

export function Card({ workspace, group, words, selected, pending, position, toggle, renamed, drop }: Props) {
  const { over, handlers } = useDropTarget(
    (dragged) => ("group" in dragged ? dragged.group : dragged.from) !== group.number,
    drop,
  );
  const classes = ["group-card", selected && "selected", pending && "pending", over && "over"];
  return (
    <li
      class={classes.filter(Boolean).join(" ")}
      data-group={group.number}
      aria-posinset={position.index}
      aria-setsize={position.total}
      {...draggable(
        () => ({ group: group.number }),
        () => group.name,
      )}
      {...handlers}
    >
      <div class="group-head">
        <label class="card-select" title="Select this group">
          <input type="checkbox" checked={selected} aria-label={`Select ${group.name}`} onChange={toggle} />
        </label>
        <Swatch slot={group.place} />
        <GroupName workspace={workspace} group={group} renamed={renamed} />
        <span class="muted group-size">{count(group.size, "item")}</span>
      </div>
      <KeyWords words={words} />
      <Link to={`/groups/${group.number}`} className="representatives">
        <span class="visually-hidden">See all items of {group.name}</span>
        {group.representatives.map((item) => (
          <Item key={item.id} item={item} size="small" />
        ))}
      </Link>
      <div class="group-foot">
        <Purity share={group.purity} />
        {group.doubtful.length > 0 && <DoubtfulItems group={group} />}
      </div>
    </li>
  );
}
