/** Export the groups, after a last look at what is left to review. */

import { useEffect } from "preact/hooks";
import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { Link } from "../../components/link";
import { count } from "../../format";
import { useActs } from "../../workspace/use-acts";
import type { Workspace } from "../../workspace/use-workspace";
import { Export } from "./export";
import "./finish.css";

export function FinishPage({ workspace }: { workspace: Workspace }) {
  const { client, session, now } = workspace;
  const progress = now?.progress;
  const { dismiss } = useActs(workspace);
  useEffect(dismiss, [client]); // what the last act did would cover the form
  const { data, error, reload } = useResource((signal) => client.get("/api/finish", { signal }), [client], {
    refreshOn: [progress?.snapshot],
  });
  const review = useResource((signal) => client.get("/api/review", { signal }), [client], {
    refreshOn: [progress?.snapshot, progress?.answers],
  });
  return (
    <main class="finish">
      <h1>Export</h1>
      {progress && session && (
        <p class="lead">
          {count(session.items, "item")} in {count(progress.groups, "group")}, based on{" "}
          {count(progress.answers, "answer")}.{" "}
          {review.data && review.data.items !== null && (
            <>
              {review.data.headline}. {!review.data.done && <Link to="/review">Review</Link>}
            </>
          )}
        </p>
      )}
      <ErrorNotice error={error} retry={reload} />
      {data && <Export workspace={workspace} options={data} reload={reload} />}
    </main>
  );
}
