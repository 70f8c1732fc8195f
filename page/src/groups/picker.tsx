/** A group chosen from a list: type a few letters, arrows, Return. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { MapGroup } from "../acts-api";
import type { Slots } from "../map/colours";
import { Dialog } from "../parts/dialog";
import { count } from "../parts/progress";
import { Swatch } from "./swatch";

/** Rows that are drawn; to see others, type more letters. */
const MOST = 60;

interface Props {
  title: string;
  groups: readonly MapGroup[];
  slots: Slots;
  choose: (number: number) => void;
  close: () => void;
}

export function GroupPicker({ title, groups, slots, choose, close }: Props) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const wanted = text.trim().toLowerCase();
  const found = groups.filter((group) => group.name.toLowerCase().includes(wanted));
  const rows = found.slice(0, MOST);
  const current = rows[Math.min(at, rows.length - 1)];

  // After the dialog has taken the focus, and before the next key.
  useLayoutEffect(() => queueMicrotask(() => field.current?.focus()), []);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [current?.number]);

  const press = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0 && rows.length > 0) {
      event.preventDefault();
      setAt((Math.min(at, rows.length - 1) + by + rows.length) % rows.length);
    } else if (event.key === "Enter" && current) {
      event.preventDefault();
      choose(current.number);
    }
  };

  return (
    <Dialog title={title} close={close}>
      <div class="picker">
        <input
          ref={field}
          role="combobox"
          aria-label="Find a group by its name"
          aria-expanded="true"
          aria-controls="picker-list"
          aria-activedescendant={current ? `pick-${current.number}` : undefined}
          placeholder="Find a group"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
        <ul id="picker-list" role="listbox" aria-label="Groups" ref={list}>
          {rows.map((group) => (
            <li
              key={group.number}
              id={`pick-${group.number}`}
              role="option"
              aria-selected={group === current}
              onClick={() => choose(group.number)}
            >
              <Swatch slot={slots.of(group.number)} />
              <span class="picker-name">{group.name}</span>
              <span class="quiet-text">{count(group.size, "item")}</span>
            </li>
          ))}
        </ul>
        {rows.length === 0 && <p class="quiet-text">No group has a name like this.</p>}
        {found.length > MOST && (
          <p class="quiet-text">{found.length - MOST} more; type a few letters of the name.</p>
        )}
      </div>
    </Dialog>
  );
}
