/** The groupings of this collection (orientations in the API), and what is known about the collection. */

import { useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import type { OrientationChange, OrientationList, OrientationView } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { Link } from "../../components/link";
import { SkippedFiles } from "../../components/skipped-files";
import { count } from "../../format";
import { href, navigate } from "../../router";
import type { Workspace } from "../../workspace/use-workspace";
import { NewGrouping } from "./new-grouping";
import "./orientations.css";

function describe(grouping: OrientationView): string {
  const answers = count(grouping.answers, "answer");
  if (grouping.latest === null) return answers;
  const latest = new Date(grouping.latest * 1000);
  const day = latest.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return `${answers} · last used ${day}`;
}

export function OrientationsPage({ workspace }: { workspace: Workspace }) {
  const { client, session, refresh } = workspace;
  const list = useResource((signal) => client.get("/api/orientations/list", { signal }), [client]);
  const [error, setError] = useState<ApiError | null>(null);
  if (!session) return <main class="orientations" />;

  const change = async (name: string, body: OrientationChange) => {
    setError(null);
    try {
      const after = await client.put("/api/orientations/{name}", { path: { name }, body });
      if (after.orientations.every((one) => one.name !== session.session)) {
        navigate({ path: "/groupings", session: null });
      }
      list.reload();
      refresh();
    } catch (caught) {
      setError(ApiError.from(caught));
    }
  };
  const found: OrientationList | null = list.data;
  return (
    <main class="orientations">
      {found?.whole && (
        <p class="back">
          <a href={href({ path: "/groupings", session: found.whole.session, pile: found.whole.pile })}>
            ← All items, grouped as {found.whole.title}
          </a>
        </p>
      )}
      <h1>Groupings</h1>
      <p class="lead">
        The same collection can be sorted in several ways: by colour, by shape, by what it means to you.
        Each grouping has its own questions, answers and groups.
      </p>
      <ErrorNotice error={error ?? list.error} retry={list.reload} />
      <ul class="orientation-list">
        {found?.orientations.map((one) => (
          <Row key={one.name} grouping={one} current={one.name === session.session} change={change} />
        ))}
      </ul>
      {found !== null && found.nested.length > 0 && (
        <>
          <h2>Of one group</h2>
          <ul class="orientation-list">
            {found.nested.map((one) => (
              <Row key={one.name} grouping={one} current={false} change={change} />
            ))}
          </ul>
        </>
      )}
      {session.orientations.length > 1 && (
        <p>
          <Link to="/compare" className="button">
            Compare side by side
          </Link>
        </p>
      )}
      <NewGrouping client={client} />
      {found !== null && found.deleted.length > 0 && (
        <details class="deleted">
          <summary>{count(found.deleted.length, "deleted grouping")}</summary>
          <ul class="orientation-list">
            {found.deleted.map((one) => (
              <li key={one.name}>
                <span class="deleted-title">{one.title}</span>
                <span class="muted about">{describe(one)}</span>
                <span class="row-actions">
                  <button type="button" class="quiet" onClick={() => void change(one.name, { deleted: false })}>
                    Restore
                  </button>
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
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

interface RowProps {
  grouping: OrientationView;
  current: boolean;
  change: (name: string, body: OrientationChange) => Promise<void>;
}

/** A grouping with its actions. */
function Row({ grouping, current, change }: RowProps) {
  const { name, title, group, pile } = grouping;
  const [draft, setDraft] = useState<string | null>(null);
  const rename = () => {
    const wanted = draft?.trim() ?? "";
    setDraft(null);
    if (wanted !== "" && wanted !== title) void change(name, { title: wanted });
  };
  return (
    <li>
      {draft === null ? (
        <a
          href={href({ path: "/", session: name, ...(pile !== null && { pile }) })}
          class="button"
          aria-current={current ? "page" : undefined}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            navigate({ path: "/", session: name, ...(pile !== null && { pile }) });
          }}
        >
          {title}
        </a>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            rename();
          }}
        >
          <input
            aria-label={`New name for ${title}`}
            value={draft}
            maxLength={64}
            ref={(field) => field?.focus()}
            onInput={(event) => setDraft(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "Escape" && setDraft(null)}
            onBlur={rename}
          />
        </form>
      )}
      <span class="muted about">
        {current && "current · "}
        {group && `${group} · `}
        {describe(grouping)}
      </span>
      <span class="row-actions">
        <button type="button" class="quiet" aria-label={`Rename ${title}`} onClick={() => setDraft(title)}>
          Rename
        </button>
        <button
          type="button"
          class="quiet"
          aria-label={`Delete ${title}`}
          onClick={() => void change(name, { deleted: true })}
        >
          Delete
        </button>
      </span>
    </li>
  );
}
