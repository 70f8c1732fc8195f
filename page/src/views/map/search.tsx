/** Find items on the map: by words in their names, folders and contents, or those in doubt. */

import { useEffect, useState } from "preact/hooks";
import type { Client } from "../../api/client";
import type { FoundItems } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { count } from "../../format";
import "./overlay.css";

const DEBOUNCE_MS = 250;

interface Props {
  client: Client;
  /** Changes with the groups, which are searched too. */
  snapshot: number;
  /** Only items of this group; `null`: of all. */
  group: number | null;
  found: (positions: number[] | null) => void;
}

export function MapSearch({ client, snapshot, group, found }: Props) {
  const [text, setText] = useState("");
  const [doubtful, setDoubtful] = useState(false);
  const isActive = text.trim() !== "" || doubtful;
  const { data, error } = useResource<FoundItems>(
    isActive
      ? async (signal) => {
          await new Promise((resolve) => setTimeout(resolve, DEBOUNCE_MS));
          const query = { text: text.trim(), doubtful, ...(group !== null && { group }) };
          return client.get("/api/map/find", { query, signal });
        }
      : null,
    [client, text, doubtful, group],
    { refreshOn: [snapshot] },
  );
  const shown = isActive ? data : null;
  useEffect(() => found(shown?.positions ?? null), [shown]);
  return (
    <form class="map-search" role="search" onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        aria-label="Find items"
        placeholder="Find by name, folder, group, words…"
        value={text}
        maxLength={200}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <label>
        <input type="checkbox" checked={doubtful} onChange={(event) => setDoubtful(event.currentTarget.checked)} />{" "}
        In doubt
      </label>
      {shown && (
        <span class="muted" role="status">
          {count(shown.total, "item")} found. {shown.words}
        </span>
      )}
      <ErrorNotice error={error} />
    </form>
  );
}
