/** The form for a new grouping: of which items, and what it begins with. */

import { useState } from "preact/hooks";
import { ApiError, type Client } from "../../api/client";
import type { LabelStart } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { count } from "../../format";
import { navigate } from "../../router";

const QUESTIONS = "questions";
const CSV = "csv";

/** A start as the value of an option. */
export function optionOf(start: LabelStart): string {
  return `${start.kind}:${start.name}`;
}

function labelOf(start: LabelStart): string {
  const groups = count(start.groups, "group");
  return start.kind === "folders" ? `The folders (${groups})` : `The column “${start.name}” (${groups})`;
}

export function NewGrouping({ client }: { client: Client }) {
  const [name, setName] = useState("");
  const [group, setGroup] = useState("");
  const [start, setStart] = useState(QUESTIONS);
  const [file, setFile] = useState<File | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [creating, setCreating] = useState(false);
  const groups = useResource((signal) => client.get("/api/groups", { signal }), [client]);
  const starts = useResource((signal) => client.get("/api/orientations/starts", { signal }), [client]);
  const isReady = name.trim() !== "" && !creating && (start !== CSV || file !== null);

  const begin = async () => {
    const title = name.trim();
    if (group !== "") {
      const body = { name: title, group: Number(group) };
      return client.post("/api/orientations/within", { body });
    }
    if (start === QUESTIONS) {
      const { session } = await client.post("/api/orientations", { body: { name: title } });
      return { session, pile: null };
    }
    const [kind, ...column] = start.split(":");
    const body = {
      name: title,
      kind: kind as LabelStart["kind"],
      column: column.join(":"),
      text: start === CSV && file !== null ? await file.text() : "",
    };
    return client.post("/api/orientations/from", { body });
  };
  const create = () => {
    setCreating(true);
    setError(null);
    begin()
      .then(
        ({ session, pile }) =>
          navigate({ path: start === QUESTIONS ? "/" : "/groups", session, ...(pile !== null && { pile }) }),
        (problem: unknown) => setError(ApiError.from(problem)),
      )
      .finally(() => setCreating(false));
  };
  return (
    <>
      <form
        class="new-orientation"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) create();
        }}
      >
        <label>
          New grouping
          <input
            value={name}
            maxLength={64}
            placeholder="by shape"
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <label>
          Items
          <select
            value={group}
            onChange={(event) => {
              setGroup(event.currentTarget.value);
              setStart(QUESTIONS);
            }}
          >
            <option value="">All</option>
            {groups.data?.groups
              .filter((one) => one.size > 1)
              .map((one) => (
                <option key={one.number} value={String(one.number)}>
                  Only {one.name} ({count(one.size, "item")})
                </option>
              ))}
          </select>
        </label>
        {group === "" && (
          <label>
            Begin with
            <select value={start} onChange={(event) => setStart(event.currentTarget.value)}>
              <option value={QUESTIONS}>Questions</option>
              {starts.data?.starts.map((one) => (
                <option key={optionOf(one)} value={optionOf(one)}>
                  {labelOf(one)}
                </option>
              ))}
              <option value={CSV}>A file with my groups</option>
            </select>
          </label>
        )}
        {start === CSV && (
          <label>
            File
            <input
              type="file"
              accept=".csv,.tsv,.txt,.json,.jsonl,text/csv,application/json"
              onChange={(event) => setFile(event.currentTarget.files?.[0] ?? null)}
            />
          </label>
        )}
        <button type="submit" disabled={!isReady}>
          {creating ? "Creating…" : "Create"}
        </button>
      </form>
      {start === CSV && (
        <p class="muted">
          A table with a row per item: its name, its group. Or a file of Label Studio, FiftyOne, Argilla, Hugging Face
          datasets, cleanlab or COCO.
        </p>
      )}
      <ErrorNotice error={error} />
    </>
  );
}
