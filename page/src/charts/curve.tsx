/** The curve over the answers: quality with its band, and how settled the groups were. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CurvePoint } from "../progress-api";
import { area, line, percent, ticks } from "./scale";

const HEIGHT = 300;
const LEFT = 46;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 38;

/** The width that an element has got, kept up when the window changes. */
function useWidth<T extends Element>(): [preact.RefObject<T>, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(640);
  useLayoutEffect(() => {
    const found = element.current;
    if (!found) return;
    const measure = () => setWidth(Math.max(240, found.clientWidth));
    measure();
    if (typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(measure);
    observer.observe(found);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

/** What the drawing shows, in one sentence. */
export function summary(points: CurvePoint[]): string {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return "No points yet.";
  const settled = `${percent(first.settled)} of the items were where they are now at ${first.answers} answers, ${percent(last.settled)} at ${last.answers}.`;
  const checked = points.filter((point) => point.quality !== null);
  const from = checked[0]?.quality;
  const to = checked.at(-1)?.quality;
  if (!from || !to) return settled;
  return `The groups agreed with ${percent(from.share)} of the random checks at ${checked[0]?.answers} answers, with ${percent(to.share)} at ${checked.at(-1)?.answers}. ${settled}`;
}

export function CurveChart({ points }: { points: CurvePoint[] }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const most = Math.max(1, points.at(-1)?.answers ?? 1);
  const x = (answers: number) => LEFT + (answers / most) * (width - LEFT - RIGHT);
  const y = (share: number) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);
  const checked = points.flatMap((one) => (one.quality ? [{ x: x(one.answers), ...one.quality }] : []));
  return (
    <div class="curve" ref={box}>
      <svg width={width} height={HEIGHT} role="img" aria-label={summary(points)}>
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <g key={share} class="rule">
            <line x1={LEFT} x2={width - RIGHT} y1={y(share)} y2={y(share)} />
            <text x={LEFT - 8} y={y(share) + 4} text-anchor="end">
              {percent(share)}
            </text>
          </g>
        ))}
        {ticks(most, Math.max(2, Math.floor(width / 90))).map((answers) => (
          <text key={answers} class="mark-x" x={x(answers)} y={HEIGHT - 18} text-anchor="middle">
            {answers}
          </text>
        ))}
        <text class="mark-x" x={width - RIGHT} y={HEIGHT - 2} text-anchor="end">
          answers
        </text>
        <path
          class="band"
          d={area(
            checked.map((one) => [one.x, y(one.high)]),
            checked.map((one) => [one.x, y(one.low)]),
          )}
        />
        <path class="settled" d={line(points.map((one) => [x(one.answers), y(one.settled)]))} />
        <path class="quality-line" d={line(checked.map((one) => [one.x, y(one.share)]))} />
        {checked.map((one) => (
          <circle key={one.x} class="quality-point" cx={one.x} cy={y(one.share)} r="4" />
        ))}
      </svg>
    </div>
  );
}

/** The same as numbers. */
export function CurveTable({ points }: { points: CurvePoint[] }) {
  const checked = points.some((point) => point.quality !== null);
  return (
    <table class="figures">
      <thead>
        <tr>
          <th scope="col">Answers</th>
          {checked && <th scope="col">Checks agreed</th>}
          {checked && <th scope="col">Between</th>}
          <th scope="col">Settled</th>
        </tr>
      </thead>
      <tbody>
        {points.map((point) => (
          <tr key={point.answers}>
            <th scope="row">{point.answers}</th>
            {checked && (
              <td>{point.quality ? `${point.quality.agreed} of ${point.quality.checks}` : "–"}</td>
            )}
            {checked && (
              <td>
                {point.quality
                  ? `${Math.round(100 * point.quality.low)} – ${percent(point.quality.high)}`
                  : "–"}
              </td>
            )}
            <td>{percent(point.settled)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
