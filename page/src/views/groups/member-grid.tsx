/** The items of a group as a grid of any length, in which several can be selected. */

import { useEffect } from "preact/hooks";
import type { MemberView } from "../../api/schema";
import { Item } from "../../components/item";
import { percent } from "../../format";
import { MAX_ITEMS_PER_ACT } from "../../workspace/use-acts";
import { draggable } from "./drag";
import type { MemberPages } from "./members";
import { nextIndex, type Selection } from "./use-selection";
import { type CellSize, useVirtualList } from "./virtual-list";
import "./member-grid.css";

/** A square and its caption. The numbers of member-grid.css. */
const MEMBER: CellSize = { minWidth: 118, height: (width) => width + 24, gap: 12 };
/** Members that are less certain than this show it. */
const CERTAIN = 0.8;
/** Space to keep between the cursor and the edges of the screen. */
const SCROLL_MARGIN = { top: 70, bottom: 90 };

interface Props {
  name: string;
  group: number;
  pages: MemberPages;
  selection: Selection;
  /** Items that were changed, while the groups are not updated yet. */
  pending: ReadonlySet<number>;
}

function describe(member: MemberView): string {
  if (member.answered) return `${member.id}, answered by you`;
  return `${member.id}, ${percent(member.sure)} certain`;
}

function Badge({ member }: { member: MemberView }) {
  if (member.answered) {
    return (
      <span class="badge answered" title="You answered a question about this item">
        answered
      </span>
    );
  }
  if (member.sure >= CERTAIN) return null;
  return (
    <span class="badge" title="How certain it is that this item belongs here">
      {percent(member.sure)}
    </span>
  );
}

export function MemberGrid({ name, group, pages, selection, pending }: Props) {
  const [list, { first, last, columns, rowHeight, top, height }] = useVirtualList(MEMBER, pages.total);
  const { selected, cursor } = selection;
  useEffect(() => pages.show(first, Math.min(last, pages.total)));

  const scrollTo = (index: number) => {
    const box = list.current?.getBoundingClientRect();
    if (!box) return;
    const y = box.top + Math.floor(index / columns) * rowHeight;
    const bottom = innerHeight - SCROLL_MARGIN.bottom;
    if (y < SCROLL_MARGIN.top) scrollBy({ top: y - SCROLL_MARGIN.top });
    else if (y + rowHeight > bottom) scrollBy({ top: y + rowHeight - bottom });
  };

  const press = (event: KeyboardEvent) => {
    if (event.altKey) return;
    const modified = event.ctrlKey || event.metaKey;
    const next = nextIndex(event.key, cursor, columns, pages.total);
    if (modified && event.key === "a") {
      selection.moveTo(0);
      selection.extendTo(Math.min(pages.total, MAX_ITEMS_PER_ACT) - 1);
    } else if (event.key === " ") selection.toggle(cursor);
    else if (next !== null && !modified) {
      if (event.shiftKey) selection.extendTo(next);
      else selection.moveTo(next);
      scrollTo(next);
    } else return;
    event.preventDefault();
  };

  const click = (event: MouseEvent, index: number) => {
    if (event.shiftKey) selection.extendTo(index);
    else selection.toggle(index);
  };

  const dragged = (member: MemberView) => () => ({
    items: selected.has(member.position) ? [...selected] : [member.position],
    from: group,
  });

  const cells = Array.from({ length: Math.max(0, last - first) }, (_, k) => first + k);
  return (
    <div
      ref={list}
      class="members virtual-list"
      role="listbox"
      aria-multiselectable="true"
      aria-label={`Items of ${name}`}
      aria-activedescendant={cursor >= first && cursor < last ? `member-${cursor}` : undefined}
      tabIndex={0}
      onKeyDown={press}
      style={{ height: `${height}px` }}
    >
      <div
        role="presentation"
        class="member-rows"
        style={{
          transform: `translateY(${top}px)`,
          gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
          gridAutoRows: `${rowHeight - MEMBER.gap}px`,
        }}
      >
        {cells.map((index) => {
          const member = pages.at(index);
          if (!member) return <div key={`loading-${index}`} role="presentation" class="loading" />;
          const isSelected = selected.has(member.position);
          const classes = [
            isSelected && "selected",
            index === cursor && "cursor",
            pending.has(member.position) && "pending",
          ];
          return (
            <figure
              key={member.position}
              id={`member-${index}`}
              role="option"
              class={classes.filter(Boolean).join(" ")}
              aria-selected={isSelected}
              aria-setsize={pages.total}
              aria-posinset={index + 1}
              aria-label={describe(member)}
              onClick={(event) => click(event, index)}
              {...draggable(dragged(member), () => member.id)}
            >
              <Item item={member} size="medium" />
              <span class="tick" aria-hidden="true" />
              <span class="caption">{member.id}</span>{" "}
              <Badge member={member} />
            </figure>
          );
        })}
      </div>
    </div>
  );
}
