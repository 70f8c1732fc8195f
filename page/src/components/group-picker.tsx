/** Choose a group from a list: type a few letters, use the arrows, press Return. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { MapGroup } from "../api/schema";
import { count } from "../format";
import { Dialog } from "./dialog";
import type { Slots } from "./group-colours";
import { Swatch } from "./swatch";
import "./group-picker.css";

const MAX_ROWS = 60;

interface Props {
  title: string;
  groups: readonly MapGroup[];
  slots: Slots;
  choose: (number: number) => void;
  close: () => void;
}

export function GroupPicker({ title, groups, slots, choose, close }: Props) {
  const [text, setText] = useState("");
  const [index, setIndex] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const search = text.trim().toLowerCase();
  const matches = groups.filter((group) => group.name.toLowerCase().includes(search));
  const rows = matches.slice(0, MAX_ROWS);
  const current = rows[Math.min(index, rows.length - 1)];

  // After the dialog has taken the focus, and before the next key press.
  useLayoutEffect(() => queueMicrotask(() => input.current?.focus()), []);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [current?.number]);

  const press = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && rows.length > 0) {
      event.preventDefault();
      setIndex((Math.min(index, rows.length - 1) + step + rows.length) % rows.length);
    } else if (event.key === "Enter" && current) {
      event.preventDefault();
      choose(current.number);
    }
  };

  return (
    <Dialog title={title} close={close}>
      <div class="picker">
        <input
          ref={input}
          role="combobox"
          aria-label="Find a group by name"
          aria-expanded="true"
          aria-controls="picker-list"
          aria-activedescendant={current ? `pick-${current.number}` : undefined}
          placeholder="Find a group"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setIndex(0);
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
              <span class="muted">{count(group.size, "item")}</span>
            </li>
          ))}
        </ul>
        {rows.length === 0 && <p class="muted">No group matches.</p>}
        {matches.length > MAX_ROWS && (
          <p class="muted">{matches.length - MAX_ROWS} more. Type to narrow the list.</p>
        )}
      </div>
    </Dialog>
  );
}
