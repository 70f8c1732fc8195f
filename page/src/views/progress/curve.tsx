/** Quality with its band, and the share of settled items, over the number of answers. */

import type { CurvePoint } from "../../api/schema";
import { useSize } from "../../components/use-size";
import { percent } from "../../format";
import { area, line, ticks } from "./scale";
import "./curve.css";

const HEIGHT = 300;
const MARGIN = { left: 46, right: 14, top: 12, bottom: 38 };
/** Pixels per label of the horizontal axis. */
const LABEL_WIDTH = 90;
const MIN_WIDTH = 240;
const DEFAULT_WIDTH = 640;

/** What the chart shows, in one sentence. */
export function summary(points: CurvePoint[]): string {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return "No points yet.";
  const settled = `${percent(first.settled)} of the items were already in their current group at ${first.answers} answers, ${percent(last.settled)} at ${last.answers}.`;
  const checked = points.filter((point) => point.quality !== null);
  const from = checked[0];
  const to = checked.at(-1);
  if (!from?.quality || !to?.quality) return settled;
  return `About ${percent(from.quality.share)} of the items were right at ${from.answers} answers, ${percent(to.quality.share)} at ${to.answers}. ${settled}`;
}

export function CurveChart({ points }: { points: CurvePoint[] }) {
  const [box, size] = useSize<HTMLDivElement>();
  const width = size === null ? DEFAULT_WIDTH : Math.max(MIN_WIDTH, size.width);
  const maxAnswers = Math.max(1, points.at(-1)?.answers ?? 1);
  const x = (answers: number) =>
    MARGIN.left + (answers / maxAnswers) * (width - MARGIN.left - MARGIN.right);
  const y = (share: number) => MARGIN.top + (1 - share) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const checked = points.flatMap(({ answers, quality }) => (quality ? [{ x: x(answers), ...quality }] : []));
  return (
    <div class="curve" ref={box}>
      <svg width={width} height={HEIGHT} role="img" aria-label={summary(points)}>
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <g key={share} class="rule">
            <line x1={MARGIN.left} x2={width - MARGIN.right} y1={y(share)} y2={y(share)} />
            <text x={MARGIN.left - 8} y={y(share) + 4} text-anchor="end">
              {percent(share)}
            </text>
          </g>
        ))}
        {ticks(maxAnswers, Math.max(2, Math.floor(width / LABEL_WIDTH))).map((answers) => (
          <text key={answers} x={x(answers)} y={HEIGHT - 18} text-anchor="middle">
            {answers}
          </text>
        ))}
        <text x={width - MARGIN.right} y={HEIGHT - 2} text-anchor="end">
          answers
        </text>
        <path
          class="band"
          d={area(
            checked.map((point) => [point.x, y(point.high)]),
            checked.map((point) => [point.x, y(point.low)]),
          )}
        />
        <path class="settled" d={line(points.map((point) => [x(point.answers), y(point.settled)]))} />
        <path class="quality-line" d={line(checked.map((point) => [point.x, y(point.share)]))} />
        {checked.map((point) => (
          <circle key={point.x} class="quality-point" cx={point.x} cy={y(point.share)} r="4" />
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
          {checked && <th scope="col">Right</th>}
          {checked && <th scope="col">95 % band</th>}
          <th scope="col">Settled</th>
        </tr>
      </thead>
      <tbody>
        {points.map(({ answers, quality, settled }) => (
          <tr key={answers}>
            <th scope="row">{answers}</th>
            {checked && <td>{quality ? percent(quality.share) : "–"}</td>}
            {checked && (
              <td>{quality ? `${Math.floor(100 * quality.low)}–${Math.ceil(100 * quality.high)}%` : "–"}</td>
            )}
            <td>{percent(settled)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
