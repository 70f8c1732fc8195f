/** The items as points: where each one is, and its group. */

export interface Points {
  n: number;
  /** x and y of each point in turn, from -1 to 1. */
  xy: Float32Array;
  /** For each point the index of its group in the list of the map. */
  group: Uint16Array;
}

const BYTES_PER_POINT = 10;

/** Decode n pairs of float32 followed by n uint16, little-endian; `null` if the length is wrong. */
export function decode(bytes: ArrayBuffer, n: number): Points | null {
  if (bytes.byteLength !== n * BYTES_PER_POINT) return null;
  if (littleEndian) {
    return { n, xy: new Float32Array(bytes, 0, 2 * n), group: new Uint16Array(bytes, 8 * n, n) };
  }
  const view = new DataView(bytes);
  const xy = Float32Array.from({ length: 2 * n }, (_, k) => view.getFloat32(4 * k, true));
  const group = Uint16Array.from({ length: n }, (_, k) => view.getUint16(8 * n + 2 * k, true));
  return { n, xy, group };
}

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Positions on the way from one layout to the next; `t` runs from 0 to 1. */
export function interpolate(from: Float32Array, to: Float32Array, t: number): Float32Array {
  const share = ease(t);
  return from.map((value, k) => value + ((to[k] ?? value) - value) * share);
}

/** Ease in and out. */
export function ease(t: number): number {
  const s = Math.min(1, Math.max(0, t));
  return s * s * (3 - 2 * s);
}
