/** Which points are here: the nearest to the pointer, and all within a loop. */

/** The cells of a grid over the map, each with the points that lie in it. */
export class Grid {
  private readonly start: Uint32Array;
  private readonly order: Uint32Array;

  constructor(
    private readonly xy: Float32Array,
    private readonly side = Math.max(1, Math.min(256, Math.ceil(Math.sqrt(xy.length / 8)))),
  ) {
    const n = xy.length / 2;
    this.start = new Uint32Array(side * side + 1);
    this.order = new Uint32Array(n);
    const cell = new Uint32Array(n);
    for (let k = 0; k < n; k += 1) {
      const c = this.at(xy[2 * k] ?? 0) + side * this.at(xy[2 * k + 1] ?? 0);
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

  /** The nearest point within `radius` that `counts`; null: there is none. */
  nearest(
    x: number,
    y: number,
    radius: number,
    counts: (k: number) => boolean = () => true,
  ): number | null {
    let best: number | null = null;
    let least = radius * radius;
    this.each(x - radius, y - radius, x + radius, y + radius, (k, px, py) => {
      const far = (px - x) ** 2 + (py - y) ** 2;
      if (far <= least && counts(k)) {
        least = far;
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
    this.each(left, bottom, right, top, (k, x, y) => {
      if (inside(loop, x, y)) found.push(k);
    });
    return found.sort((a, b) => a - b);
  }

  private at(value: number): number {
    return Math.min(this.side - 1, Math.max(0, Math.floor(((value + 1) / 2) * this.side)));
  }

  private each(
    left: number,
    bottom: number,
    right: number,
    top: number,
    see: (k: number, x: number, y: number) => void,
  ): void {
    const [c0, c1, r0, r1] = [this.at(left), this.at(right), this.at(bottom), this.at(top)];
    for (let row = r0; row <= r1; row += 1) {
      // The cells of a row lie one behind the other.
      const first = this.start[row * this.side + c0] ?? 0;
      const last = this.start[row * this.side + c1 + 1] ?? 0;
      for (let s = first; s < last; s += 1) {
        const k = this.order[s] ?? 0;
        see(k, this.xy[2 * k] ?? 0, this.xy[2 * k + 1] ?? 0);
      }
    }
  }
}

/** Whether a point lies within a loop: a ray to the right crosses its sides an odd number of times. */
export function inside(loop: readonly number[], x: number, y: number): boolean {
  let odd = false;
  const n = loop.length;
  for (let k = 0, j = n - 2; k < n; j = k, k += 2) {
    const [ax, ay, bx, by] = [loop[k] ?? 0, loop[k + 1] ?? 0, loop[j] ?? 0, loop[j + 1] ?? 0];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
  }
  return odd;
}

/** The smallest box around some points, outliers left out: a group is where most of it is. */
export function boxOf(
  xy: Float32Array,
  which: readonly number[],
): [number, number, number, number] | null {
  if (which.length === 0) return null;
  const xs = Float32Array.from(which, (k) => xy[2 * k] ?? 0).sort();
  const ys = Float32Array.from(which, (k) => xy[2 * k + 1] ?? 0).sort();
  const low = Math.floor((which.length - 1) * 0.02);
  const high = Math.ceil((which.length - 1) * 0.98);
  return [xs[low] ?? 0, ys[low] ?? 0, xs[high] ?? 0, ys[high] ?? 0];
}
