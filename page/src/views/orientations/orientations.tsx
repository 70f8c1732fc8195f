/** The groupings of this collection (orientations in the API), and what is known about the collection itself. */

import { useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import type { OrientationView } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { Link } from "../../components/link";
import { SkippedFiles } from "../../components/skipped-files";
import { count } from "../../format";
import { navigate } from "../../router";
import type { Workspace } from "../../workspace/use-workspace";
import "./orientations.css";

function describe(orientation: OrientationView | undefined): string {
  if (orientation === undefined) return "";
  const answers = count(orientation.answers, "answer");
  if (orientation.latest === null) return answers;
  const latest = new Date(orientation.latest * 1000);
  const day = latest.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return `${answers} · last used ${day}`;
}

export function OrientationsPage({ workspace }: { workspace: Workspace }) {
  const { client, session } = workspace;
  // Without these details the list still has the names.
  const details = useResource((signal) => client.get("/api/orientations/list", { signal }), [client]);
  if (!session) return <main class="orientations" />;
  return (
    <main class="orientations">
      <h1>Groupings</h1>
      <p class="lead">
        The same collection can be sorted in several ways: by colour, by shape, by what it means to you.
        Each grouping has its own questions, answers and groups.
      </p>
      <ul class="orientation-list">
        {session.orientations.map((name) => (
          <li key={name}>
            <Link to="/" session={name} className="button" current={name === session.session}>
              {name}
            </Link>
            <span class="muted about">
              {name === session.session && "current · "}
              {describe(details.data?.orientations.find((one) => one.name === name))}
            </span>
          </li>
        ))}
      </ul>
      {session.orientations.length > 1 && (
        <p>
          <Link to="/compare" className="button">
            Compare side by side
          </Link>
        </p>
      )}
      <NewOrientation workspace={workspace} />
      <h2>Collection</h2>
      <p>
        {session.collection}: {count(session.items, "item")}.{" "}
        {session.gone.length > 0 &&
          `${count(session.gone.length, "item")} from earlier questions no longer there; the answers are kept. `}
        samekind {session.version}. Nothing leaves this computer.
      </p>
      <SkippedFiles total={session.skipped_total} files={session.skipped} />
    </main>
  );
}

function NewOrientation({ workspace: { client } }: { workspace: Workspace }) {
  const [name, setName] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const [creating, setCreating] = useState(false);
  const create = () => {
    setCreating(true);
    client
      .post("/api/orientations", { body: { name: name.trim() } })
      .then(
        ({ session }) => navigate({ path: "/", session }),
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
          create();
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
        <button type="submit" disabled={name.trim() === "" || creating}>
          {creating ? "Creating…" : "Create"}
        </button>
      </form>
      <ErrorNotice error={error} />
    </>
  );
}
