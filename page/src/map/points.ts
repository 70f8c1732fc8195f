/** The items as points: where each lies, and the group that it is in. */

export interface Points {
  n: number;
  /** x and y of each point in turn, from -1 to 1. */
  xy: Float32Array;
  /** For each point the index of its group in the list of the map. */
  group: Uint16Array;
}

/** Read n pairs of float32 and then n uint16, little-endian; null when it is something else. */
export function decode(bytes: ArrayBuffer, n: number): Points | null {
  if (bytes.byteLength !== n * 10) return null;
  if (littleEndian) {
    return { n, xy: new Float32Array(bytes, 0, 2 * n), group: new Uint16Array(bytes, 8 * n, n) };
  }
  const view = new DataView(bytes);
  const xy = Float32Array.from({ length: 2 * n }, (_, k) => view.getFloat32(4 * k, true));
  const group = Uint16Array.from({ length: n }, (_, k) => view.getUint16(8 * n + 2 * k, true));
  return { n, xy, group };
}

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Where the points are on the way from one layout to the next; `t` runs from 0 to 1. */
export function between(from: Float32Array, to: Float32Array, t: number): Float32Array {
  const share = ease(t);
  return from.map((value, k) => value + ((to[k] ?? value) - value) * share);
}

/** Slow, fast, slow. */
export function ease(t: number): number {
  const s = Math.min(1, Math.max(0, t));
  return s * s * (3 - 2 * s);
}
