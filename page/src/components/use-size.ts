/** The size of an element, kept up to date. */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Size {
  width: number;
  height: number;
}

/** A reference for the element, and its size in pixels; `null` before it is known. */
export function useSize<T extends Element>(): [RefObject<T>, Size | null] {
  const element = useRef<T>(null);
  const [size, setSize] = useState<Size | null>(null);
  useLayoutEffect(() => {
    const node = element.current;
    if (!node) return;
    const measure = () => setSize({ width: node.clientWidth, height: node.clientHeight });
    measure();
    if (typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  return [element, size];
}
