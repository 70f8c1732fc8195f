/** From numbers to places on a drawing, and numbers worth printing at an axis. */

/** Round numbers from 0 up to `most`, at most `count` of them besides 0. */
export function ticks(most: number, count: number): number[] {
  if (most <= 0) return [0];
  const raw = most / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const steps = [1, 2, 2.5, 5, 10].map((base) => base * power).filter(Number.isInteger);
  const step = steps.find((size) => size >= raw) ?? 1;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, k) => k * step);
}

/** A line through points, as the path of a drawing. */
export function line(points: [number, number][]): string {
  return points.map(([x, y], k) => `${k === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/** The area between two lines. */
export function area(upper: [number, number][], lower: [number, number][]): string {
  return upper.length === 0 ? "" : `${line([...upper, ...lower.toReversed()])}Z`;
}

export function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

/** A time as people say it. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
