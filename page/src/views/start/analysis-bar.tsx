/** Questions have begun while most items are still being analysed: how far that is. */

import { useEffect } from "preact/hooks";
import { server } from "../../api/client";
import type { JobList, JobView } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { Notice } from "../../components/notice";
import { isRunning } from "../../components/use-job";
import { count } from "../../format";
import { currentPile } from "../../router";
import type { Workspace } from "../../workspace/use-workspace";
import "./analysis-bar.css";

const POLL_MS = 1000;

/** The latest job that opens this collection. */
function openingOf(jobs: JobList | null): JobView | undefined {
  const pile = currentPile();
  return jobs?.jobs.find((job) => job.kind === "open" && (pile === null ? job.ready : job.pile === pile));
}

export function AnalysisBar({ workspace, path }: { workspace: Workspace; path: string }) {
  const analysing = workspace.session?.analysing ?? 0;
  const jobs = useResource(
    analysing > 0 ? (signal) => server.get("/api/jobs", { signal }) : null,
    [analysing > 0],
    { poll: () => POLL_MS },
  );
  const job = openingOf(jobs.data);
  const running = job !== undefined && isRunning(job);
  useEffect(() => {
    if (analysing > 0 && job !== undefined && !running) workspace.refresh();
  }, [running]);
  if (analysing === 0 || job === undefined) return null;
  if (!running) {
    const resume = () => void server.post("/api/jobs/{id}/again", { path: { id: job.id } }).then(jobs.reload);
    return (
      <Notice tone="info" {...(job.can_go_on && { action: { label: "Continue", run: resume } })}>
        {count(analysing, "item is", "items are")} not analysed yet, so the questions are about the others. {job.words}
      </Notice>
    );
  }
  return (
    <div class="analysis" role="status">
      <progress aria-label="Items analysed" max={100} value={Math.floor(100 * (job.share ?? 0))} />
      <span class="muted">
        {job.words}.{" "}
        {path === "/finish" ? "Wait for them: an export has only those analysed so far." : "You can answer meanwhile."}
      </span>
    </div>
  );
}
