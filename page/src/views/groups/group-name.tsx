/** The name of a group, edited in place: Return saves it, Escape cancels. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, type Client } from "../../api/client";
import type { GroupCard } from "../../api/schema";

interface Props {
  client: Client;
  group: GroupCard;
  renamed: () => void;
}

export function GroupName({ client, group, renamed }: Props) {
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const editing = text !== null;
  useLayoutEffect(() => input.current?.select(), [editing]);

  const save = () => {
    if (text === null) return;
    const name = text.trim();
    const unchanged = name === group.name || (!group.named && name === "");
    if (unchanged) return setText(null);
    client.put("/api/groups/{number}", { path: { number: group.number }, body: { name } }).then(
      () => {
        setText(null);
        setError("");
        renamed();
      },
      (problem: unknown) => setError(ApiError.from(problem).message),
    );
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
        save();
      }}
    >
      <input
        ref={input}
        aria-label={`Name of group ${group.number}`}
        maxLength={80}
        placeholder={group.named ? `Group ${group.number}` : group.name}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && setText(null)}
        onBlur={save}
      />
      {error && <span class="field-error">{error}</span>}
    </form>
  );
}
