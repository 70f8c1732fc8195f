/** The pixels of a point of a shape and size, with how much of each one it covers. */

export interface Stamp {
  dx: Int16Array;
  dy: Int16Array;
  /** From 1 to 255. */
  alpha: Uint8Array;
}

const cache = new Map<string, Stamp>();

/** The distance of a position outside a shape, both from -1 to 1. The same as in the WebGL shader. */
function distanceOutside(shape: number, x: number, y: number): number {
  const radius = Math.hypot(x, y);
  if (shape === 1) return Math.max(Math.abs(x), Math.abs(y)) - 0.78;
  if (shape === 2) return Math.max(y - 0.7, Math.abs(x) * 0.87 - y * 0.5 - 0.45);
  if (shape === 3) return Math.abs(radius - 0.66) - 0.26;
  return radius - 0.92;
}

/** Computed once for each shape and size. */
export function stampFor(shape: number, side: number): Stamp {
  const key = `${shape} ${side}`;
  const cached = cache.get(key);
  if (cached) return cached;
  const cells: [number, number, number][] = [];
  for (let row = 0; row < side; row += 1) {
    for (let column = 0; column < side; column += 1) {
      const x = ((column + 0.5) / side) * 2 - 1;
      const y = ((row + 0.5) / side) * 2 - 1;
      const coverage = Math.min(1, Math.max(0, 0.5 - (distanceOutside(shape, x, y) * side) / 2));
      if (coverage > 0.05) cells.push([column, row, Math.round(coverage * 255)]);
    }
  }
  const stamp = {
    dx: Int16Array.from(cells, (cell) => cell[0]),
    dy: Int16Array.from(cells, (cell) => cell[1]),
    alpha: Uint8Array.from(cells, (cell) => cell[2]),
  };
  cache.set(key, stamp);
  return stamp;
}
