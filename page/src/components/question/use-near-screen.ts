/** Whether an element is on the screen or about to be: only then is its preview worth loading. */

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** How far outside an element may be, as a share of the screen. */
const MARGIN = "40%";

/** A reference for the element, and whether it has come near the screen. */
export function useNearScreen<T extends Element>(assumed: boolean): [RefObject<T>, boolean] {
  const element = useRef<T>(null);
  const [near, setNear] = useState(assumed || typeof IntersectionObserver === "undefined");
  useEffect(() => {
    const node = element.current;
    if (near || !node) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setNear(true);
      },
      { rootMargin: MARGIN },
    );
    observer.observe(node);
    return () => observer.disconnect();
  }, [near]);
  return [element, near];
}
