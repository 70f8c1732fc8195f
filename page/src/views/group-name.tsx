/** The name of a group, changed where it stands: Return keeps it, Escape leaves it. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Fault, type Group } from "../api";
import type { Desk } from "../desk";

interface Props {
  desk: Desk;
  group: Group;
  renamed: () => void;
}

export function GroupName({ desk, group, renamed }: Props) {
  const [text, setText] = useState<string | null>(null);
  const [fault, setFault] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const editing = text !== null;
  useLayoutEffect(() => field.current?.select(), [editing]);

  const keep = () => {
    if (text === null) return;
    const name = text.trim();
    const same = group.named ? name === group.name : name === "" || name === group.name;
    if (same) {
      setText(null);
      return;
    }
    desk.api.rename(group.number, name).then(
      () => {
        setText(null);
        setFault("");
        renamed();
      },
      (problem: Fault) => setFault(problem.message),
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
        keep();
      }}
    >
      <input
        ref={field}
        aria-label={`Name of group ${group.number}`}
        maxLength={80}
        placeholder={group.named ? `Group ${group.number}` : group.name}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && setText(null)}
        onBlur={keep}
      />
      {fault && <span class="fault">{fault}</span>}
    </form>
  );
}
