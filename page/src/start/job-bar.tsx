/** Long work: how far it is, in a bar and in words, and a way to stop it. */

import { useState } from "preact/hooks";
import { going, jobs, type Job } from "../jobs-api";

export function JobBar({ job }: { job: Job }) {
  const [stopping, setStopping] = useState(false);
  const percent = job.share === null ? null : Math.floor(job.share * 100);
  return (
    <section class="job" aria-label={job.title}>
      <div class="job-head">
        <strong>{job.title}</strong>
        {percent !== null && <span class="job-percent">{percent} %</span>}
      </div>
      <progress aria-label={job.title} max={100} value={percent ?? undefined} />
      <div class="job-foot">
        <span class="quiet-text" role="status">
          {job.state === "queued" ? "Waiting for other work to end." : job.words}
        </span>
        {going(job) && (
          <button
            type="button"
            disabled={stopping}
            onClick={() => {
              setStopping(true);
              void jobs.cancel(job.id).catch(() => setStopping(false));
            }}
          >
            {stopping ? "Stopping …" : "Cancel"}
          </button>
        )}
      </div>
    </section>
  );
}
