/** All groups in one list: type a part of a name, press Return. A name that is new starts a group. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ChoiceView } from "../../api/schema";
import { Item } from "../item";
import { Swatch } from "../swatch";
import { byPlace, matchingGroups, newName, numberOf } from "./group-search";
import { NONE } from "./use-marks";
import "./group-list.css";

const MAX_NAME_LENGTH = 80;
/** Pictures of a group that has no name to be recognised by. */
const UNNAMED_PICTURES = 3;

/** Anyone who answered by typing can keep typing: the field of the next question has the focus. */
let typing = false;

interface Props {
  groups: readonly ChoiceView[];
  /** Whether a name that no group has starts a new one. */
  canCreate: boolean;
  chosen: string | null;
  choose: (value: string, name?: string) => void;
  rename?: ((value: string, name: string) => void) | undefined;
  undo?: (() => void) | undefined;
}

export function GroupList({ groups, canCreate, chosen, choose, rename, undo }: Props) {
  const [text, setText] = useState("");
  const [index, setIndex] = useState(0);
  const [renaming, setRenaming] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const rows = matchingGroups(byPlace(groups), text);
  const created = canCreate ? newName(groups, text) : null;
  const n = rows.length + (created === null ? 0 : 1);
  const searching = text.trim() !== "";
  const current = searching && n > 0 ? Math.min(index, n - 1) : -1;

  // After the question has taken the focus, and before the next key press.
  useLayoutEffect(() => {
    if (typing) queueMicrotask(() => input.current?.focus({ preventScroll: true }));
  }, []);
  useEffect(() => {
    list.current?.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
  }, [current]);

  const pick = (row: number) => {
    const group = rows[row];
    if (group) choose(group.value);
    else if (created !== null) choose(NONE, created);
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const undoing = event.key === "z" && (event.ctrlKey || event.metaKey) && text === "";
    if (step !== 0 && current >= 0) setIndex((current + step + n) % n);
    else if (event.key === "Enter" && current >= 0) {
      typing = true;
      pick(current);
    } else if (event.key === "Escape" && (text !== "" || undo)) {
      // A first Escape clears the field, a second one leaves it: single keys work again.
      if (text === "") input.current?.blur();
      setText("");
      typing = false;
    } else if (undoing && undo) undo();
    else return;
    event.preventDefault();
  };

  return (
    <div class="group-list">
      <input
        ref={input}
        type="search"
        aria-label="Find or name a group"
        placeholder={canCreate ? "Find or create a group" : "Find a group"}
        autocomplete="off"
        spellcheck={false}
        maxLength={MAX_NAME_LENGTH}
        data-find-group
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setIndex(0);
        }}
        onKeyDown={press}
      />
      <p class="visually-hidden" role="status">
        {searching && (rows[current]?.name || created || "No group matches")}
      </p>
      <ul ref={list} aria-label="All groups">
        {rows.map((group, row) =>
          group.value === renaming && rename ? (
            <li key={group.value}>
              <NameField
                group={group}
                save={(name) => {
                  if (name !== null && name !== group.name) rename(group.value, name);
                  setRenaming(null);
                }}
              />
            </li>
          ) : (
            <li key={group.value}>
              <button
                type="button"
                class="group-row"
                aria-current={row === current}
                aria-pressed={group.value === chosen}
                onClick={() => {
                  typing = false;
                  pick(row);
                }}
              >
                <span class="row-pictures">
                  {group.exemplars.slice(0, group.name ? 1 : UNNAMED_PICTURES).map((item) => (
                    <Item key={item.id} item={item} size="small" />
                  ))}
                </span>
                <span class={group.name ? "row-name" : "row-name muted"}>{group.name || group.label}</span>
                {group.place !== null && <Swatch slot={group.place} />}
                {numberOf(group) && <kbd>{numberOf(group)}</kbd>}
              </button>
              {rename && (
                <button
                  type="button"
                  class="quiet row-rename"
                  title="Name this group"
                  aria-label={`Name group ${numberOf(group)}${group.name && `, ${group.name}`}`}
                  onClick={() => setRenaming(group.value)}
                >
                  ✎
                </button>
              )}
            </li>
          ),
        )}
        {created !== null && (
          <li key="new">
            <button
              type="button"
              class="group-row create"
              aria-current={current === rows.length}
              onClick={() => pick(rows.length)}
            >
              <span class="row-pictures" aria-hidden="true">
                +
              </span>
              <span class="row-name">Create group “{created}”</span>
            </button>
          </li>
        )}
      </ul>
      {n === 0 && <p class="muted">No group matches.</p>}
    </div>
  );
}

interface NameFieldProps {
  group: ChoiceView;
  /** `null`: leave the name as it is. */
  save: (name: string | null) => void;
}

function NameField({ group, save }: NameFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  useLayoutEffect(() => input.current?.select(), []);
  const finish = (name: string | null) => {
    if (done.current) return; // leaving the field after Return
    done.current = true;
    save(name);
  };
  return (
    <input
      ref={input}
      class="row-field"
      aria-label={`Name of group ${numberOf(group)}`}
      placeholder="Name of this group"
      maxLength={MAX_NAME_LENGTH}
      defaultValue={group.name}
      onKeyDown={(event) => {
        if (event.key === "Enter") finish(event.currentTarget.value.trim());
        else if (event.key === "Escape") finish(null);
        else return;
        event.preventDefault();
      }}
      onBlur={(event) => finish(event.currentTarget.value.trim())}
    />
  );
}
