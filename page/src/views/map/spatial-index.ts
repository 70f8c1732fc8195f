/** Finds points: the nearest one to the pointer, and all within a loop. */

import type { Box } from "./camera";

/** Cells per side. */
const MAX_SIDE = 256;
/** The share of points that is cut off at each side of a bounding box. */
const OUTLIERS = 0.02;

/** A grid over the map; each cell has the points in it. */
export class SpatialIndex {
  private readonly start: Uint32Array;
  private readonly order: Uint32Array;

  constructor(
    private readonly xy: Float32Array,
    private readonly side = Math.max(1, Math.min(MAX_SIDE, Math.ceil(Math.sqrt(xy.length / 8)))),
  ) {
    const n = xy.length / 2;
    this.start = new Uint32Array(side * side + 1);
    this.order = new Uint32Array(n);
    const cell = new Uint32Array(n);
    for (let k = 0; k < n; k += 1) {
      const c = this.cell(xy[2 * k] ?? 0) + side * this.cell(xy[2 * k + 1] ?? 0);
      cell[k] = c;
      this.start[c + 1] = (this.start[c + 1] ?? 0) + 1;
    }
    for (let c = 0; c < side * side; c += 1) {
      this.start[c + 1] = (this.start[c + 1] ?? 0) + (this.start[c] ?? 0);
    }
    const next = this.start.slice();
    for (let k = 0; k < n; k += 1) {
      const c = cell[k] ?? 0;
      this.order[next[c] ?? 0] = k;
      next[c] = (next[c] ?? 0) + 1;
    }
  }

  /** The nearest point within `radius` that is `eligible`; `null` if there is none. */
  nearest(
    x: number,
    y: number,
    radius: number,
    eligible: (k: number) => boolean = () => true,
  ): number | null {
    let best: number | null = null;
    let smallest = radius * radius;
    this.forEach(x - radius, y - radius, x + radius, y + radius, (k, px, py) => {
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance <= smallest && eligible(k)) {
        smallest = distance;
        best = k;
      }
    });
    return best;
  }

  /** All points within a loop, given as x and y in turn. */
  within(loop: readonly number[]): number[] {
    if (loop.length < 6) return [];
    let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let k = 0; k < loop.length; k += 2) {
      left = Math.min(left, loop[k] ?? 0);
      right = Math.max(right, loop[k] ?? 0);
      bottom = Math.min(bottom, loop[k + 1] ?? 0);
      top = Math.max(top, loop[k + 1] ?? 0);
    }
    const found: number[] = [];
    this.forEach(left, bottom, right, top, (k, x, y) => {
      if (isInside(loop, x, y)) found.push(k);
    });
    return found.sort((a, b) => a - b);
  }

  private cell(value: number): number {
    return Math.min(this.side - 1, Math.max(0, Math.floor(((value + 1) / 2) * this.side)));
  }

  private forEach(
    left: number,
    bottom: number,
    right: number,
    top: number,
    visit: (k: number, x: number, y: number) => void,
  ): void {
    const [c0, c1, r0, r1] = [this.cell(left), this.cell(right), this.cell(bottom), this.cell(top)];
    for (let row = r0; row <= r1; row += 1) {
      // The cells of a row are contiguous.
      const first = this.start[row * this.side + c0] ?? 0;
      const last = this.start[row * this.side + c1 + 1] ?? 0;
      for (let s = first; s < last; s += 1) {
        const k = this.order[s] ?? 0;
        visit(k, this.xy[2 * k] ?? 0, this.xy[2 * k + 1] ?? 0);
      }
    }
  }
}

/** Whether a point is within a loop: a ray to the right crosses its sides an odd number of times. */
export function isInside(loop: readonly number[], x: number, y: number): boolean {
  let odd = false;
  const n = loop.length;
  for (let k = 0, j = n - 2; k < n; j = k, k += 2) {
    const [ax, ay, bx, by] = [loop[k] ?? 0, loop[k + 1] ?? 0, loop[j] ?? 0, loop[j + 1] ?? 0];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
  }
  return odd;
}

/** The bounding box of some points without outliers; `null` if there are none. */
export function boundsOf(xy: Float32Array, points: readonly number[]): Box | null {
  if (points.length === 0) return null;
  const xs = Float32Array.from(points, (k) => xy[2 * k] ?? 0).sort();
  const ys = Float32Array.from(points, (k) => xy[2 * k + 1] ?? 0).sort();
  const low = Math.floor((points.length - 1) * OUTLIERS);
  const high = Math.ceil((points.length - 1) * (1 - OUTLIERS));
  return [xs[low] ?? 0, ys[low] ?? 0, xs[high] ?? 0, ys[high] ?? 0];
}
