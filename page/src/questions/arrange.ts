/** How many groups stand beside each other, and how their exemplars do, so that all are large. */

import { type RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Arrangement {
  /** Groups beside each other. */
  columns: number;
  /** Exemplars beside each other, in cells. */
  across: number;
  /** The side of a cell, in pixels. */
  cell: number;
  /** Whether the first exemplar takes two by two cells. */
  central: boolean;
}

export interface Frame {
  width: number;
  height: number;
  /** What a group needs beside its pictures: frame and label. */
  besides: { width: number; height: number };
  /** Between groups, and between pictures. */
  gaps: [number, number];
}

const LARGEST = 230;
/** Below this many pixels little can be seen: then the smallest picture counts, not their sum. */
const ENOUGH = 44;

/** Ways to show `n` exemplars in cells: across, down, and whether the first is a large one. */
function shapes(n: number): [number, number, boolean][] {
  const plain = Array.from({ length: n }, (_, k): [number, number, boolean] => [
    k + 1,
    Math.ceil(n / (k + 1)),
    false,
  ]);
  if (n < 3) return plain;
  const others = Math.ceil((n - 1) / 2);
  return [...plain, [2 + others, 2, true], [2, 2 + others, true]];
}

/** The arrangement with the largest pictures; all groups get cells of one size. */
export function arrange(groups: number, exemplars: number, frame: Frame): Arrangement {
  const [between, inside] = frame.gaps;
  let best: Arrangement = { columns: groups, across: 1, cell: 0, central: false };
  let most = 0;
  for (let columns = 1; columns <= groups; columns += 1) {
    const rows = Math.ceil(groups / columns);
    const width = (frame.width - (columns - 1) * between) / columns - frame.besides.width;
    const height = (frame.height - (rows - 1) * between) / rows - frame.besides.height;
    for (const [across, down, central] of shapes(exemplars)) {
      const fits = Math.min((width - (across - 1) * inside) / across, (height - (down - 1) * inside) / down);
      const cell = Math.floor(Math.min(fits, central ? LARGEST / 2 : LARGEST));
      const seen = Math.min(1, (Math.max(0, cell) / ENOUGH) ** 4);
      const area = seen * cell * cell * (exemplars + (central ? 3 : 0));
      if (area > most) {
        most = area;
        best = { columns, across, cell, central };
      }
    }
  }
  return best;
}

/** The size that an element has got, kept up when the window changes; null before it is known. */
export function useSize<T extends Element>(): [RefObject<T>, { width: number; height: number } | null] {
  const element = useRef<T>(null);
  const [size, setSize] = useState<{ width: number; height: number } | null>(null);
  useLayoutEffect(() => {
    const found = element.current;
    if (!found) return;
    const measure = () => setSize({ width: found.clientWidth, height: found.clientHeight });
    measure();
    if (typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(measure);
    observer.observe(found);
    return () => observer.disconnect();
  }, []);
  return [element, size];
}
