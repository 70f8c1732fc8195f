/** Export the groups, and polish them with a network. */

import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { count } from "../../format";
import type { Workspace } from "../../workspace/use-workspace";
import { Export } from "./export";
import { PolishSection } from "./polish";
import "./finish.css";

export function FinishPage({ workspace }: { workspace: Workspace }) {
  const { client, session, now } = workspace;
  const progress = now?.progress;
  const { data, error, reload } = useResource((signal) => client.get("/api/finish", { signal }), [client], {
    refreshOn: [progress?.snapshot],
  });
  return (
    <main class="finish">
      <h1>Export</h1>
      {progress && session && (
        <p class="lead">
          {count(session.items, "item")} in {count(progress.groups, "group")}, based on{" "}
          {count(progress.answers, "answer")}. {progress.quality}
        </p>
      )}
      <ErrorNotice error={error} retry={reload} />
      <div class="finish-columns">
        {data && <Export workspace={workspace} options={data} reload={reload} />}
        <PolishSection workspace={workspace} />
      </div>
    </main>
  );
}
