/** Photos that a known folder has since the last time, by the group that each was put into. */

import { useState } from "preact/hooks";
import type { MemberView } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { slotsFor } from "../../components/group-colours";
import { GroupPicker } from "../../components/group-picker";
import { Item } from "../../components/item";
import { Link } from "../../components/link";
import { Toast } from "../../components/toast";
import { count, countItems } from "../../format";
import { navigate } from "../../router";
import { useActs } from "../../workspace/use-acts";
import type { Workspace } from "../../workspace/use-workspace";
import "./new.css";

export function NewItemsPage({ workspace }: { workspace: Workspace }) {
  const { client, now, session } = workspace;
  const acts = useActs(workspace);
  const refreshOn = [now?.progress.snapshot, now?.progress.answers];
  const found = useResource((signal) => client.get("/api/new", { signal }), [client], { refreshOn });
  const groups = useResource((signal) => client.get("/api/groups", { signal }), [client], { refreshOn });
  const [moving, setMoving] = useState<MemberView | null>(null);
  const move = (item: MemberView, to: number) => {
    setMoving(null);
    void acts.perform((client, aside) =>
      client.post("/api/acts/move", { body: { items: [item.position], to, ...aside } }),
    );
  };
  const done = () =>
    void client.post("/api/new/seen").then(() => {
      workspace.refresh();
      navigate({ path: "/", session: session?.session ?? null });
    });
  const total = found.data?.total ?? 0;
  return (
    <main class="new-items">
      <h1>{total === 0 ? "No new items" : `${total} new ${countItems(total, session?.kind ?? "").replace(/^\S+ /, "")}`}</h1>
      <ErrorNotice error={found.error} retry={found.reload} />
      {total > 0 && (
        <p class="lead">
          Each was put into the group that fits best, and the least certain come first. Move those that are wrong.
        </p>
      )}
      {found.data?.groups.map((group) => (
        <section key={group.number} aria-labelledby={`new-${group.number}`}>
          <h2 id={`new-${group.number}`}>
            <Link to={`/groups/${group.number}`}>{group.name}</Link>{" "}
            <span class="muted">{count(group.items.length, "new item")}</span>
          </h2>
          <ul class="new-grid">
            {group.items.map((item) => (
              <li key={item.id}>
                <Item item={item} size="medium" />
                <button type="button" disabled={acts.busy} onClick={() => setMoving(item)}>
                  Move
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {total > 0 && (
        <div class="form-actions">
          <button type="button" class="primary" onClick={done}>
            All of these are right
          </button>
        </div>
      )}
      {moving && (
        <GroupPicker
          title={`Move ${moving.id} to…`}
          groups={groups.data?.groups ?? []}
          slots={slotsFor(client)}
          choose={(to) => move(moving, to)}
          close={() => setMoving(null)}
        />
      )}
      <Toast acts={acts} />
    </main>
  );
}
