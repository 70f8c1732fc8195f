/** Follows a job until it has ended. */

import { useEffect, useRef, useState } from "preact/hooks";
import { going, jobs, type Job } from "../jobs-api";

const EVERY = 500;

/** The job as it is now. `ended` is called once, when it has come to an end. */
export function useJob(begun: Job | null, ended: (job: Job) => void): Job | null {
  const [job, setJob] = useState(begun);
  const last = useRef(ended);
  last.current = ended;
  useEffect(() => {
    setJob(begun);
    if (begun === null) return;
    if (!going(begun)) {
      last.current(begun);
      return;
    }
    let timer = 0;
    let left = false;
    const look = () =>
      jobs.one(begun.id).then(
        (found) => {
          if (left) return;
          setJob(found);
          if (going(found)) timer = window.setTimeout(look, EVERY);
          else last.current(found);
        },
        () => {
          // The server is away; the job is known to it when it is back.
          if (!left) timer = window.setTimeout(look, 4 * EVERY);
        },
      );
    timer = window.setTimeout(look, EVERY / 2);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [begun]);
  return job;
}
