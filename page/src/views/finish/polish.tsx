/** Polish: a network trains in the background. Its groups replace the current ones once accepted. */

import { useState } from "preact/hooks";
import { ApiError, server } from "../../api/client";
import type { JobView } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { JobBar } from "../../components/job-bar";
import { Link } from "../../components/link";
import { Notice } from "../../components/notice";
import { isRunning, useJob } from "../../components/use-job";
import type { Workspace } from "../../workspace/use-workspace";
import { PolishComparison } from "./polish-comparison";
import { PolishForm } from "./polish-form";
import "./polish.css";

export function PolishPage({ workspace }: { workspace: Workspace }) {
  return (
    <main class="finish">
      <PolishSection workspace={workspace} />
      <p>
        <Link to="/finish">Back to export</Link>
      </p>
    </main>
  );
}

/** A line that leads to polishing, where that is expected to help or has been done. */
export function PolishOffer({ workspace }: { workspace: Workspace }) {
  const { client, now } = workspace;
  const polish = useResource((signal) => client.get("/api/polish", { signal }), [client], {
    refreshOn: [now?.progress.answers],
  });
  if (polish.data === null) return null;
  const { helps, result, accepted } = polish.data;
  if (result) return <PolishLine words="Polished groups wait for your decision." label="Compare" />;
  if (accepted) return <PolishLine words={`You are seeing polished groups (${accepted}).`} label="Polish" />;
  if (!helps) return null;
  return <PolishLine words="A network that learns from your pictures would probably sort them better." label="Polish" />;
}

function PolishLine({ words, label }: { words: string; label: string }) {
  return (
    <p class="polish-offer">
      {words} <Link to="/polish">{label}</Link>
    </p>
  );
}

function PolishSection({ workspace }: { workspace: Workspace }) {
  const { client, now } = workspace;
  const session = workspace.session?.session;
  const polish = useResource((signal) => client.get("/api/polish", { signal }), [client], {
    refreshOn: [now?.progress.answers],
  });
  const jobs = useResource(
    session === undefined ? null : (signal) => server.get("/api/jobs", { signal }),
    [session],
  );
  const [error, setError] = useState<ApiError | null>(null);
  const [started, setStarted] = useState<JobView | null>(null);
  const mine = jobs.data?.jobs.filter((job) => job.kind === "polish" && job.session === session) ?? [];
  const latest = mine[0];
  const interrupted = latest?.state === "interrupted" && latest.can_go_on ? latest : null;

  const job = useJob(started ?? mine.find(isRunning) ?? null, (ended) => {
    setStarted(null);
    jobs.reload();
    if (ended.state !== "finished") setError(new ApiError(200, ended.words));
    polish.reload();
  });
  const start = (request: Promise<JobView>) => {
    setError(null);
    request.then(setStarted, (problem: unknown) => setError(ApiError.from(problem)));
  };
  const decide = (decision: "accept" | "reject" | "back") => {
    setError(null);
    client.post(`/api/polish/${decision}`).then(
      (found) => {
        polish.replace(found);
        workspace.refresh();
      },
      (problem: unknown) => setError(ApiError.from(problem)),
    );
  };

  if (polish.data === null) return <ErrorNotice error={polish.error} retry={polish.reload} />;
  const { accepted, result, offered, why_not } = polish.data;
  return (
    <section class="polish" aria-labelledby="polish-title">
      <h1 id="polish-title">Polish</h1>
      <p class="lead">
        A network learns from all your pictures and answers together. It trains in the background while you
        continue.
      </p>
      <ErrorNotice error={error ?? polish.error} />
      {accepted && (
        <Notice tone="info" action={{ label: "Undo polish", run: () => decide("back") }}>
          You are seeing polished groups ({accepted}).
        </Notice>
      )}
      {interrupted && !job && (
        <Notice
          tone="info"
          action={{
            label: "Continue",
            run: () => start(server.post("/api/jobs/{id}/again", { path: { id: interrupted.id } })),
          }}
        >
          <strong>{interrupted.title}</strong> was interrupted. What it has learned is saved.
        </Notice>
      )}
      {job ? (
        <JobBar job={job} />
      ) : result ? (
        <div class="polish-result">
          <PolishComparison result={result} />
          <div class="form-actions">
            <button type="button" class="primary" onClick={() => decide("accept")}>
              Use polished groups
            </button>
            <button type="button" onClick={() => decide("reject")}>
              Keep current groups
            </button>
          </div>
        </div>
      ) : offered ? (
        <PolishForm
          client={client}
          polish={polish.data}
          start={(body) => start(client.post("/api/polish", { body }))}
        />
      ) : (
        <p>{why_not}</p>
      )}
    </section>
  );
}
