/** How long the person has looked at a question; unknown if the page was hidden meanwhile. */

import { useLayoutEffect, useRef } from "preact/hooks";

/** Returns a function that gives the seconds since the question appeared, or `null`. */
export function useStopwatch(question: number | null): () => number | null {
  const start = useRef<number | null>(null);
  useLayoutEffect(() => {
    start.current = document.hidden ? null : performance.now();
    const invalidate = () => {
      if (document.hidden) start.current = null;
    };
    document.addEventListener("visibilitychange", invalidate);
    return () => document.removeEventListener("visibilitychange", invalidate);
  }, [question]);
  return () =>
    start.current === null ? null : Math.round(performance.now() - start.current) / 1000;
}
