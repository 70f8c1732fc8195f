/** From numbers to positions in a chart, and round numbers for its axes. */

type Point = [x: number, y: number];

/** Round numbers from 0 to `max`, at most `count` of them besides 0. */
export function ticks(max: number, count: number): number[] {
  if (max <= 0) return [0];
  const raw = max / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const steps = [1, 2, 2.5, 5, 10].map((base) => base * power).filter(Number.isInteger);
  const step = steps.find((size) => size >= raw) ?? 1;
  return Array.from({ length: Math.floor(max / step) + 1 }, (_, k) => k * step);
}

/** A line through points, as an SVG path. */
export function line(points: Point[]): string {
  return points.map(([x, y], k) => `${k === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/** The area between two lines, as an SVG path. */
export function area(upper: Point[], lower: Point[]): string {
  return upper.length === 0 ? "" : `${line([...upper, ...lower.toReversed()])}Z`;
}
