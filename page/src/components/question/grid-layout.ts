/** How the tiles of a grid are arranged, and where the cursor keys lead. */

import type { Size } from "../use-size";

const NARROW_WIDTH = 500;
const MAX_CELL = 220;
/** Smaller pictures show little and are hard to hit: rather scroll. */
const MIN_CELL = 62;
/** The gap between tiles: the numbers of grid.css. */
const GAP = 8;
const NARROW_GAP = 6;

export interface GridLayout {
  columns: number;
  /** The side of a tile, in pixels. */
  cell: number;
}

/** The number of columns that makes the tiles largest; a guess before the size is known. */
export function layoutOf(n: number, size: Size | null): GridLayout {
  if (size === null || size.height === 0) return { columns: Math.ceil(n / 3), cell: 100 };
  const gap = size.width < NARROW_WIDTH ? NARROW_GAP : GAP;
  const side = (room: number, count: number) => Math.floor((room - (count - 1) * gap) / count);
  let best: GridLayout = { columns: 1, cell: 0 };
  for (let columns = 1; columns <= n; columns += 1) {
    const fits = Math.min(side(size.width, columns), side(size.height, Math.ceil(n / columns)));
    const cell = Math.min(MAX_CELL, fits);
    if (cell > best.cell) best = { columns, cell };
  }
  if (best.cell >= MIN_CELL) return best;
  const columns = Math.max(1, Math.floor((size.width + gap) / (MIN_CELL + gap)));
  return { columns, cell: side(size.width, columns) };
}

/** The tile to which a key leads from another one; `null` for keys that lead nowhere. */
export function step(from: number, key: string, columns: number, n: number): number | null {
  const last = n - 1;
  switch (key) {
    case "ArrowRight":
      return Math.min(last, from + 1);
    case "ArrowLeft":
      return Math.max(0, from - 1);
    case "ArrowDown":
      if (from + columns <= last) return from + columns;
      // The last row may be short: from above its gap the cursor goes to its end.
      return Math.floor(from / columns) < Math.floor(last / columns) ? last : from;
    case "ArrowUp":
      return from >= columns ? from - columns : from;
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}
