/** The groups beside the map: a press gives a group its colour and leaves the others grey. */

import { useState } from "preact/hooks";
import type { MapGroup } from "../acts-api";
import { Swatch } from "../groups/swatch";
import type { Slots } from "./colours";

/** With more groups than this one can look for a name. */
const MANY = 14;
/** Rows that are drawn; to see others, type a few letters. */
const MOST = 200;

interface Props {
  groups: readonly MapGroup[];
  slots: Slots;
  lit: ReadonlySet<number>;
  toggle: (number: number) => void;
  clear: () => void;
}

export function Legend({ groups, slots, lit, toggle, clear }: Props) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const found = [...groups]
    .filter((group) => group.size > 0 && group.name.toLowerCase().includes(wanted))
    .sort((a, b) => b.size - a.size || a.number - b.number);
  return (
    <aside class="legend" aria-label="Groups on the map">
      <div class="legend-head">
        <h2>Groups</h2>
        {lit.size > 0 && (
          <button type="button" class="quiet" onClick={clear}>
            Show all
          </button>
        )}
      </div>
      {groups.length > MANY && (
        <input
          type="search"
          aria-label="Find a group by its name"
          placeholder="Find a group"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <ul>
        {found.slice(0, MOST).map((group) => (
          <li key={group.number}>
            <button
              type="button"
              data-group={group.number}
              class={lit.size > 0 && !lit.has(group.number) ? "dim" : ""}
              aria-pressed={lit.has(group.number)}
              onClick={() => toggle(group.number)}
            >
              <Swatch slot={slots.of(group.number)} />
              <span class="legend-name">{group.name}</span>
              <span class="quiet-text">{group.size.toLocaleString("en")}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length > MOST && (
        <p class="quiet-text">{found.length - MOST} more; type a few letters of the name.</p>
      )}
    </aside>
  );
}
