/** A long-running job: its progress, and a button to cancel it. */

import { useState } from "preact/hooks";
import { server } from "../api/client";
import type { JobView } from "../api/schema";
import { isRunning } from "./use-job";
import "./job-bar.css";

export function JobBar({ job }: { job: JobView }) {
  const [cancelling, setCancelling] = useState(false);
  const percent = job.share === null ? null : Math.floor(job.share * 100);
  const cancel = () => {
    setCancelling(true);
    const request = server.post("/api/jobs/{id}/cancel", { path: { id: job.id } });
    request.catch(() => setCancelling(false));
  };
  return (
    <section class="job" aria-label={job.title}>
      <div class="job-head">
        <strong>{job.title}</strong>
        {percent !== null && <span class="job-percent">{percent}%</span>}
      </div>
      <progress aria-label={job.title} max={100} value={percent ?? undefined} />
      <div class="job-foot">
        <span class="muted" role="status">
          {job.state === "queued" ? "Waiting for other work to finish." : job.words}
        </span>
        {isRunning(job) && (
          <button type="button" disabled={cancelling} onClick={cancel}>
            {cancelling ? "Stopping…" : "Cancel"}
          </button>
        )}
      </div>
    </section>
  );
}
