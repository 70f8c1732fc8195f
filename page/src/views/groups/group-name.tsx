/** The name of a group, edited in place: Return saves it, Escape cancels. Names are suggested, and one
 * that another group has offers to merge the two. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import type { GroupCard } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { useActs } from "../../workspace/use-acts";
import type { Workspace } from "../../workspace/use-workspace";

interface Props {
  workspace: Workspace;
  group: GroupCard;
  renamed: () => void;
}

export function GroupName({ workspace, group, renamed }: Props) {
  const { client } = workspace;
  const acts = useActs(workspace);
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const editing = text !== null;
  const path = { number: group.number };
  const names = useResource(
    editing ? (signal) => client.get("/api/groups/{number}/names", { path, signal }) : null,
    [client, group.number, editing],
  );
  useLayoutEffect(() => input.current?.select(), [editing]);

  const close = () => {
    setText(null);
    setError(null);
  };
  const save = (wanted: string) => {
    const name = wanted.trim();
    const unchanged = name === group.name || (!group.named && name === "");
    if (unchanged) return close();
    client.put("/api/groups/{number}", { path, body: { name } }).then(
      () => {
        close();
        renamed();
      },
      (problem: unknown) => setError(ApiError.from(problem)),
    );
  };
  const merge = async () => {
    const wanted = text?.trim().toLowerCase();
    const { groups } = await client.get("/api/groups");
    const other = groups.find(({ name }) => name.toLowerCase() === wanted);
    if (!other) return close();
    const numbers = [other.number, group.number];
    const merged = await acts.perform((_, aside) =>
      client.post("/api/acts/merge", { body: { groups: numbers, ...aside } }),
    );
    if (merged) close();
  };

  if (text === null) {
    return (
      <button
        type="button"
        class="group-name"
        title="Rename"
        onClick={() => setText(group.named ? group.name : "")}
      >
        {group.name}
        <span class="pencil" aria-hidden="true">
          ✎
        </span>
      </button>
    );
  }
  return (
    <form
      class="rename"
      onSubmit={(event) => {
        event.preventDefault();
        save(text);
      }}
      onFocusOut={(event) => {
        const inside = event.currentTarget.contains(event.relatedTarget as Node | null);
        if (!inside && error === null) save(text);
      }}
    >
      <input
        ref={input}
        aria-label={`Name of group ${group.number}`}
        maxLength={80}
        placeholder={group.named ? `Group ${group.number}` : group.name}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setError(null);
        }}
        onKeyDown={(event) => event.key === "Escape" && close()}
      />
      {error && (
        <span class="field-error" role="alert">
          {error.message}
        </span>
      )}
      {error?.type === "name-taken" && (
        <span class="name-suggestions">
          <button type="button" class="primary" disabled={acts.busy} onClick={() => void merge()}>
            Merge
          </button>
          <button type="button" onClick={() => setError(null)}>
            Choose another name
          </button>
        </span>
      )}
      {!error && (names.data?.suggestions.length ?? 0) > 0 && (
        <span class="name-suggestions">
          {names.data?.suggestions.map(({ name, why }) => (
            <button key={name} type="button" title={why} onClick={() => save(name)}>
              {name}
            </button>
          ))}
        </span>
      )}
    </form>
  );
}
