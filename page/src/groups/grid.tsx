/** The items of a group as a grid of any length, from which several can be chosen. */

import { useEffect } from "preact/hooks";
import { MOST_ITEMS, type Member } from "../acts-api";
import { ItemView } from "../items/item";
import { step, type Choosing } from "./choosing";
import { dragged } from "./drag";
import type { MemberPages } from "./members";
import { percent } from "./purity";
import { useShown, type Plan } from "./window";

/** A square and its name. */
const PLAN: Plan = { least: 118, height: (width) => width + 24, gap: 12 };
/** Members that are less sure than this say so. */
const SURE = 0.8;

interface Props {
  name: string;
  group: number;
  pages: MemberPages;
  choosing: Choosing;
  /** Items about which an act is not in the groups yet. */
  waiting: ReadonlySet<number>;
}

function described(member: Member): string {
  if (member.answered) return `${member.id}, told by you`;
  return `${member.id}, ${percent(member.sure)} sure`;
}

function Badge({ member }: { member: Member }) {
  if (member.answered) {
    return (
      <span class="badge told" title="You have told something about this one">
        told
      </span>
    );
  }
  if (member.sure >= SURE) return null;
  return (
    <span class="badge" title="How sure it is that this one belongs here">
      {percent(member.sure)}
    </span>
  );
}

export function Grid({ name, group, pages, choosing, waiting }: Props) {
  const [list, shown] = useShown(PLAN, pages.total);
  const { chosen, cursor } = choosing;
  const { first, last, columns, row, top, whole } = shown;

  useEffect(() => {
    void pages.range(first, Math.min(last, pages.total)).catch(() => undefined);
  });

  const follow = (index: number) => {
    const box = list.current?.getBoundingClientRect();
    if (!box) return;
    const above = box.top + Math.floor(index / columns) * row;
    if (above < 70) scrollBy({ top: above - 70 });
    else if (above + row > innerHeight - 90) scrollBy({ top: above + row - innerHeight + 90 });
  };

  const press = (event: KeyboardEvent) => {
    if (event.altKey) return;
    const all = (event.ctrlKey || event.metaKey) && event.key === "a";
    const to = step(event.key, cursor, columns, pages.total);
    if (all) {
      choosing.move(0);
      choosing.reach(Math.min(pages.total, MOST_ITEMS) - 1);
    } else if (event.key === " ") choosing.toggle(cursor);
    else if (to !== null && !event.ctrlKey && !event.metaKey) {
      if (event.shiftKey) choosing.reach(to);
      else choosing.move(to);
      follow(to);
    } else return;
    event.preventDefault();
  };

  const click = (event: MouseEvent, index: number) => {
    if (event.shiftKey) choosing.reach(index);
    else choosing.toggle(index);
  };

  const load = (member: Member) => () => ({
    items: chosen.has(member.position) ? [...chosen] : [member.position],
    from: group,
  });

  const cells = Array.from({ length: Math.max(0, last - first) }, (_, k) => first + k);
  return (
    <div
      ref={list}
      class="members long"
      role="listbox"
      aria-multiselectable="true"
      aria-label={`Items of ${name}`}
      aria-activedescendant={cursor >= first && cursor < last ? `member-${cursor}` : undefined}
      tabIndex={0}
      onKeyDown={press}
      style={{ height: `${whole}px` }}
    >
      <div
        role="presentation"
        class="members-rows"
        style={{
          transform: `translateY(${top}px)`,
          gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
          gridAutoRows: `${row - PLAN.gap}px`,
        }}
      >
        {cells.map((index) => {
          const member = pages.at(index);
          if (!member) return <div key={`coming-${index}`} role="presentation" class="coming" />;
          const picked = chosen.has(member.position);
          const look = [
            picked && "chosen",
            index === cursor && "cursor",
            waiting.has(member.position) && "waiting",
          ];
          return (
            <figure
              key={member.position}
              id={`member-${index}`}
              role="option"
              class={look.filter(Boolean).join(" ")}
              aria-selected={picked}
              aria-setsize={pages.total}
              aria-posinset={index + 1}
              aria-label={described(member)}
              onClick={(event) => click(event, index)}
              {...dragged(load(member), () => member.id)}
            >
              <ItemView item={member} size="medium" />
              <Badge member={member} />
              <span class="tick" aria-hidden="true" />
              <span class="caption">{member.id}</span>
            </figure>
          );
        })}
      </div>
    </div>
  );
}
