/** Follow a job until it ends. */

import { useEffect, useRef } from "preact/hooks";
import { server } from "../api/client";
import type { JobView } from "../api/schema";
import { useResource } from "../api/use-resource";

const POLL_MS = 500;
/** After an error. The job is still known to the server when it is back. */
const ERROR_POLL_MS = 2000;

export function isRunning(job: JobView): boolean {
  return job.state === "queued" || job.state === "running";
}

/** The current state of a job that was started. `onEnd` is called once, when it has ended. */
export function useJob(started: JobView | null, onEnd: (job: JobView) => void): JobView | null {
  const following = started !== null && isRunning(started);
  const { data } = useResource(
    following ? (signal) => server.get("/api/jobs/{id}", { path: { id: started.id }, signal }) : null,
    [started],
    { poll: (job, error) => (error ? ERROR_POLL_MS : job && isRunning(job) ? POLL_MS : null) },
  );
  const job = data ?? started;
  const latest = useRef(onEnd);
  latest.current = onEnd;
  const ended = job !== null && !isRunning(job);
  useEffect(() => {
    if (ended) latest.current(job);
  }, [started, ended]);
  return job;
}
