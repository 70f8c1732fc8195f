/** The pixels of a point of a shape and size, with how much of each it covers. */

export interface Stamp {
  dx: Int16Array;
  dy: Int16Array;
  /** From 1 to 255. */
  alpha: Uint8Array;
}

const known = new Map<string, Stamp>();

/** How far outside a shape a place is; both run from -1 to 1. The same as on the graphics card. */
function outside(shape: number, x: number, y: number): number {
  const far = Math.hypot(x, y);
  if (shape === 1) return Math.max(Math.abs(x), Math.abs(y)) - 0.78;
  if (shape === 2) return Math.max(y - 0.7, Math.abs(x) * 0.87 - y * 0.5 - 0.45);
  if (shape === 3) return Math.abs(far - 0.66) - 0.26;
  return far - 0.92;
}

/** Drawn once for each shape and size. */
export function stamp(shape: number, side: number): Stamp {
  const key = `${shape} ${side}`;
  const found = known.get(key);
  if (found) return found;
  const cells: [number, number, number][] = [];
  for (let row = 0; row < side; row += 1) {
    for (let column = 0; column < side; column += 1) {
      const x = ((column + 0.5) / side) * 2 - 1;
      const y = ((row + 0.5) / side) * 2 - 1;
      const covered = Math.min(1, Math.max(0, 0.5 - (outside(shape, x, y) * side) / 2));
      if (covered > 0.05) cells.push([column, row, Math.round(covered * 255)]);
    }
  }
  const made = {
    dx: Int16Array.from(cells, (cell) => cell[0]),
    dy: Int16Array.from(cells, (cell) => cell[1]),
    alpha: Uint8Array.from(cells, (cell) => cell[2]),
  };
  known.set(key, made);
  return made;
}
