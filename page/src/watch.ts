/** How long the person looked at a question; unknown when the page was hidden meanwhile. */

import { useLayoutEffect, useRef } from "preact/hooks";

export function useWatch(question: number | null): () => number | null {
  const since = useRef<number | null>(null);
  useLayoutEffect(() => {
    since.current = document.hidden ? null : performance.now();
    const hide = () => {
      if (document.hidden) since.current = null;
    };
    document.addEventListener("visibilitychange", hide);
    return () => document.removeEventListener("visibilitychange", hide);
  }, [question]);
  return () =>
    since.current === null ? null : Math.round(performance.now() - since.current) / 1000;
}
