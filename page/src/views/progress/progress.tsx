/** How good the groups are, what more answers would bring, and the time spent. */

import type { Curve, InUse, QualityView, Report } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { Link } from "../../components/link";
import { count, duration, number, percent } from "../../format";
import type { Workspace } from "../../workspace/use-workspace";
import { PolishOffer } from "../finish/polish";
import { CurveChart, CurveTable } from "./curve";
import { People } from "./people";
import "./progress.css";

/** How often to read a curve that is still being computed. */
const CURVE_POLL_MS = 900;

export function ProgressPage({ workspace }: { workspace: Workspace }) {
  const { client, now } = workspace;
  const { answers, snapshot, refitting } = now?.progress ?? {};
  const report = useResource((signal) => client.get("/api/progress/report", { signal }), [client], {
    refreshOn: [answers, snapshot, refitting],
  });
  const curve = useResource((signal) => client.get("/api/progress/curve", { signal }), [client], {
    refreshOn: [answers, snapshot],
    poll: (found) => (found && found.pending > 0 ? CURVE_POLL_MS : null),
  });
  const learner = useResource((signal) => client.get("/api/progress/learner", { signal }), [client], {
    refreshOn: [snapshot],
  });
  const several = Object.keys(report.data?.people ?? {}).length > 1;
  const people = useResource(
    async (signal) => (several ? client.get("/api/progress/people", { signal }) : null),
    [client, several],
    { refreshOn: [answers, snapshot] },
  );
  const retry = () => {
    report.reload();
    curve.reload();
  };
  return (
    <main class="progress-page">
      <h1>Progress</h1>
      <ErrorNotice error={report.error ?? curve.error} retry={retry} />
      {report.data && (
        <>
          <p class="verdict">{verdict(report.data)}</p>
          <Figures report={report.data} />
          <QualityCurve curve={curve.data} />
          <Breakdown report={report.data} />
          {people.data && <People found={people.data} />}
          <PolishOffer workspace={workspace} />
          {learner.data && <Learner {...learner.data} />}
        </>
      )}
    </main>
  );
}

/** Whether to continue, in one sentence. */
export function verdict({ answers, words }: Report): string {
  if (answers === 0) return "No answers yet. A few are enough for a first picture.";
  return words || "The groups are still taking shape. After about 15 answers you will see how well they fit.";
}

/** What groups the items, and what chooses the questions. */
export function Learner({ learner, strategy, parameters }: InUse) {
  const given = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return (
    <p class="muted learner-in-use">
      Groups by {[learner, ...given].join(", ")}. Questions by the strategy {strategy}.
    </p>
  );
}

function Figures({ report }: { report: Report }) {
  const { gain } = report;
  return (
    <div class="figure-cards">
      <Quality report={report} />
      <section class="figure-card" aria-labelledby="gain-head">
        <h2 id="gain-head">{gain?.answers ?? 10} more questions</h2>
        <p class="big">{gain ? number(gain.items) : "–"}</p>
        <p class="muted">
          {gain
            ? `${gain.items === 1 ? "item" : "items"} would probably change${report.enough ? ": you can stop here." : "."}`
            : "Not known yet."}
        </p>
      </section>
      <section class="figure-card" aria-labelledby="answers-head">
        <h2 id="answers-head">Answers</h2>
        <p class="big">{number(report.answers)}</p>
        <p class="muted">
          about {number(report.placed)} of {count(report.items, "item")}, {report.unsure} not sure.
          {report.conflicts > 0 && (
            <>
              {" "}
              <Link to="/conflicts">{count(report.conflicts, "contradiction")}</Link>
            </>
          )}
        </p>
      </section>
      <section class="figure-card" aria-labelledby="time-head">
        <h2 id="time-head">Time spent</h2>
        <p class="big">{report.timed > 0 ? duration(report.seconds) : "–"}</p>
        <p class="muted">
          {report.timed > 0
            ? `${(report.seconds / report.timed).toFixed(1)} s per answer on average.`
            : "No times recorded yet."}
        </p>
      </section>
    </div>
  );
}

function Quality({ report }: { report: Report }) {
  const { quality, notice, placements, placements_needed } = report;
  return (
    <section class="figure-card wide" aria-labelledby="quality-head">
      <h2 id="quality-head">Quality</h2>
      {quality ? (
        <>
          <p class="big">{quality.words.split(" (")[0]}</p>
          <Gauge quality={quality} />
          <p class="muted">
            {quality.words}: with a probability of 95 % the true share is in this range. Based on{" "}
            {count(quality.placements, "answer")}, {count(quality.checks, "random check")} among them.
          </p>
        </>
      ) : (
        <p class="muted">
          {notice ||
            `Shown after ${placements_needed} answers that place an item in one of several groups. So far: ${placements}.`}
        </p>
      )}
    </section>
  );
}

/** The estimate and its interval on a scale from 0 to 100%. */
function Gauge({ quality: { share, low, high } }: { quality: QualityView }) {
  const label = `${percent(share)}, between ${percent(low)} and ${percent(high)}`;
  return (
    <svg class="gauge" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="gauge-scale" x="0" y="2" width="100" height="2" />
      <rect class="gauge-band" x={100 * low} y="1" width={100 * (high - low)} height="4" />
      <rect class="gauge-mark" x={Math.min(99.2, 100 * share - 0.4)} y="0" width="0.8" height="6" />
    </svg>
  );
}

function QualityCurve({ curve }: { curve: Curve | null }) {
  const points = curve?.points ?? [];
  const checked = points.some((point) => point.quality !== null);
  return (
    <section class="quality-curve" aria-labelledby="curve-head">
      <div class="curve-head">
        <h2 id="curve-head">As you answered</h2>
        <ul class="chart-legend" aria-hidden="true">
          {checked && (
            <li>
              <span class="sample quality-sample" /> items that are right, with a 95 % band
            </li>
          )}
          <li>
            <span class="sample settled-sample" /> items already in their current group
          </li>
        </ul>
      </div>
      {curve?.message && <p class="muted">{curve.message}</p>}
      {points.length > 1 && (
        <div class="curve-and-table">
          <CurveChart points={points} />
          <CurveTable points={points} />
        </div>
      )}
      {curve !== null && curve.pending > 0 && (
        <p class="muted" role="status">
          Replaying your answers: {count(curve.pending, "point")} to go…
        </p>
      )}
      {points.length > 1 && (
        <p class="muted">
          Each point shows the groups after your first answers only, and what could be said then.
        </p>
      )}
    </section>
  );
}

function Breakdown({ report }: { report: Report }) {
  if (report.kinds.length === 0) return null;
  const max = Math.max(...Object.values(report.choices));
  return (
    <div class="breakdown">
      <section>
        <h2>By question</h2>
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">Question</th>
              <th scope="col">Answers</th>
              <th scope="col">Not sure</th>
              <th scope="col">Median</th>
              <th scope="col">Total</th>
            </tr>
          </thead>
          <tbody>
            {report.kinds.map((kind) => (
              <tr key={kind.kind}>
                <th scope="row">{kind.prompt}</th>
                <td>{kind.answers}</td>
                <td>{kind.unsure}</td>
                <td>{kind.median === null ? "–" : `${kind.median.toFixed(1)} s`}</td>
                <td>{kind.timed === 0 ? "–" : duration(kind.seconds)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <section>
        <h2>By choice</h2>
        <dl class="bars">
          {Object.entries(report.choices).map(([label, n]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <meter class="bar" min={0} max={max} value={n} aria-label={`${label}: ${n}`} /> {n}
              </dd>
            </div>
          ))}
        </dl>
      </section>
    </div>
  );
}
