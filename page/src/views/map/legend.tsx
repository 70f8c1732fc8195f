/** The groups beside the map. Selecting one highlights it and greys out the others. */

import { useState } from "preact/hooks";
import type { MapGroup } from "../../api/schema";
import type { Slots } from "../../components/group-colours";
import { Swatch } from "../../components/swatch";
import { number } from "../../format";

/** With more groups than this there is a search field. */
const MAX_WITHOUT_SEARCH = 14;
const MAX_ROWS = 200;

interface Props {
  groups: readonly MapGroup[];
  slots: Slots;
  highlighted: ReadonlySet<number>;
  toggle: (number: number) => void;
  clear: () => void;
}

export function Legend({ groups, slots, highlighted, toggle, clear }: Props) {
  const [text, setText] = useState("");
  const search = text.trim().toLowerCase();
  const matches = [...groups]
    .filter((group) => group.size > 0 && group.name.toLowerCase().includes(search))
    .sort((a, b) => b.size - a.size || a.number - b.number);
  return (
    <aside class="legend" aria-label="Groups on the map">
      <div class="legend-head">
        <h2>Groups</h2>
        {highlighted.size > 0 && (
          <button type="button" class="quiet" onClick={clear}>
            Show all
          </button>
        )}
      </div>
      {groups.length > MAX_WITHOUT_SEARCH && (
        <input
          type="search"
          aria-label="Find a group by name"
          placeholder="Find a group"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <ul>
        {matches.slice(0, MAX_ROWS).map((group) => (
          <li key={group.number}>
            <button
              type="button"
              data-group={group.number}
              class={highlighted.size > 0 && !highlighted.has(group.number) ? "dim" : ""}
              aria-pressed={highlighted.has(group.number)}
              onClick={() => toggle(group.number)}
            >
              <Swatch slot={slots.of(group.number)} />
              <span class="legend-name">{group.name}</span>
              <span class="muted">{number(group.size)}</span>
            </button>
          </li>
        ))}
      </ul>
      {matches.length > MAX_ROWS && (
        <p class="muted">{matches.length - MAX_ROWS} more. Type to narrow the list.</p>
      )}
    </aside>
  );
}
