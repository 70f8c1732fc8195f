/** Where this stands: how good the groups are, what more answers would bring, the time spent. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { Fault } from "../api";
import { CurveChart, CurveTable } from "../charts/curve";
import { duration, percent } from "../charts/scale";
import type { Desk } from "../desk";
import { Link } from "../parts/link";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { type Curve, ProgressApi, type Quality, type Report } from "../progress-api";
import "../style/progress.css";

/** Milliseconds between two looks at a curve that is still being computed. */
const AGAIN = 900;

export function ProgressView({ desk }: { desk: Desk }) {
  const api = useMemo(() => new ProgressApi(desk.api), [desk.api]);
  const [report, setReport] = useState<Report | null>(null);
  const [curve, setCurve] = useState<Curve | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const [tries, setTries] = useState(0);
  const answers = desk.now?.progress.answers;
  const snapshot = desk.now?.progress.snapshot;
  const refitting = desk.now?.progress.refitting;

  useEffect(() => {
    let wanted = true;
    const shown = (found: Report) => {
      if (!wanted) return;
      setReport(found);
      setFault(null);
    };
    api.report().then(shown, (problem: Fault) => wanted && setFault(problem));
    return () => void (wanted = false);
  }, [api, answers, snapshot, refitting, tries]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wanted = true;
    const look = () => {
      api.curve().then(
        (found) => {
          if (!wanted) return;
          setCurve(found);
          if (found.pending > 0) timer = setTimeout(look, AGAIN);
        },
        (problem: Fault) => wanted && setFault(problem),
      );
    };
    look();
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [api, answers, snapshot, tries]);

  return (
    <main class="progress-view">
      <h1>Progress</h1>
      {fault && (
        <Notice tone="warning" act={{ label: "Try again", go: () => setTries(tries + 1) }}>
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      {report && (
        <>
          <p class="verdict">{verdict(report)}</p>
          <Figures report={report} />
          <OverAnswers curve={curve} report={report} />
          <ByKind report={report} />
        </>
      )}
    </main>
  );
}

/** Whether to go on, in one sentence. */
export function verdict(report: Report): string {
  if (report.answers === 0) return "No answer yet. A few questions are enough for a first picture.";
  if (report.enough) return "More answers would change little. You may stop, or go on as you like.";
  if (report.gain?.little) {
    return "More answers would probably change very little.";
  }
  if (report.gain !== null) {
    return `${report.gain.answers} more answers would probably put about ${count(report.gain.items, "more item")} in place.`;
  }
  return "The groups are still being found. What more answers would bring can be told after about 20.";
}

function Figures({ report }: { report: Report }) {
  const { quality, gain } = report;
  return (
    <div class="figure-cards">
      <section class="figure-card wide" aria-labelledby="quality-head">
        <h2 id="quality-head">How good the groups are</h2>
        {quality ? (
          <>
            <p class="big">
              {percent(quality.share)} <small>of the random checks agree</small>
            </p>
            <Gauge quality={quality} />
            <p class="quiet-text">
              You agreed with {quality.agreed} of {count(quality.checks, "random check")}: between{" "}
              {Math.round(100 * quality.low)} and {percent(quality.high)} of the items are where you
              want them.
            </p>
          </>
        ) : (
          <p class="quiet-text">
            {report.checking
              ? `Now and then a question is a random check. After ${report.checks_needed} of them the quality can be told; so far there ${report.checks === 1 ? "is" : "are"} ${report.checks}.`
              : "This way of asking has no random checks, so the quality cannot be told. The strategy “live” mixes them in."}
          </p>
        )}
      </section>
      <section class="figure-card" aria-labelledby="gain-head">
        <h2 id="gain-head">20 more answers</h2>
        <p class="big">{gain ? `+ ${gain.items.toLocaleString("en")}` : "–"}</p>
        <p class="quiet-text">
          {gain
            ? `${gain.items === 1 ? "item" : "items"} would probably come into place${report.enough ? ": you may stop." : gain.little ? ": hardly any." : "."}`
            : "Not known yet."}
        </p>
      </section>
      <section class="figure-card" aria-labelledby="answers-head">
        <h2 id="answers-head">Answers</h2>
        <p class="big">{report.answers.toLocaleString("en")}</p>
        <p class="quiet-text">
          about {count(report.placed, "item")} of {report.items.toLocaleString("en")}; {report.unsure}{" "}
          not sure.
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
        <p class="quiet-text">
          {report.timed > 0
            ? `${(report.seconds / report.timed).toFixed(1)} s per answer, on average.`
            : "No times are known yet."}
        </p>
      </section>
    </div>
  );
}

/** The estimate and its band on a line from 0 to 100 %. */
function Gauge({ quality }: { quality: Quality }) {
  const words = `${percent(quality.share)}, between ${percent(quality.low)} and ${percent(quality.high)}`;
  return (
    <svg class="gauge" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={words}>
      <rect class="gauge-ground" x="0" y="2" width="100" height="2" />
      <rect
        class="gauge-band"
        x={100 * quality.low}
        y="1"
        width={100 * (quality.high - quality.low)}
        height="4"
      />
      <rect class="gauge-mark" x={Math.min(99.2, 100 * quality.share - 0.4)} y="0" width="0.8" height="6" />
    </svg>
  );
}

function OverAnswers({ curve, report }: { curve: Curve | null; report: Report }) {
  const points = curve?.points ?? [];
  const checked = points.some((point) => point.quality !== null);
  return (
    <section class="over-answers" aria-labelledby="curve-head">
      <div class="curve-head">
        <h2 id="curve-head">Over your answers</h2>
        <ul class="legend" aria-hidden="true">
          {checked && (
            <li>
              <span class="sample quality-sample" /> random checks agreed, with the 95 % band
            </li>
          )}
          <li>
            <span class="sample settled-sample" /> items where they are now
          </li>
        </ul>
      </div>
      {curve?.message && <p class="quiet-text">{curve.message}</p>}
      {points.length > 1 && (
        <div class="curve-and-table">
          <CurveChart points={points} />
          <CurveTable points={points} />
        </div>
      )}
      {curve !== null && curve.pending > 0 && (
        <p class="quiet-text" role="status">
          Going back over your answers: {count(curve.pending, "point")} to come …
        </p>
      )}
      {points.length > 1 && (
        <p class="quiet-text">
          Each point: the groups as only your first answers give them, learnt without the checks that
          they are compared with.
          {!checked && report.checking && " There are too few random checks yet."}
        </p>
      )}
    </section>
  );
}

function ByKind({ report }: { report: Report }) {
  if (report.kinds.length === 0) return null;
  const most = Math.max(...Object.values(report.choices));
  const people = Object.entries(report.people);
  return (
    <div class="by-kind">
      <section>
        <h2>By kind of question</h2>
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">Question</th>
              <th scope="col">Answers</th>
              <th scope="col">Not sure</th>
              <th scope="col">Typical</th>
              <th scope="col">Together</th>
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
        <h2>By what you chose</h2>
        <dl class="bars">
          {Object.entries(report.choices).map(([words, n]) => (
            <div key={words}>
              <dt>{words}</dt>
              <dd>
                <meter class="bar" min={0} max={most} value={n} aria-label={`${words}: ${n}`} /> {n}
              </dd>
            </div>
          ))}
        </dl>
        {people.length > 1 && (
          <p class="quiet-text">By {people.map(([who, n]) => `${who}: ${n}`).join(", ")}.</p>
        )}
      </section>
    </div>
  );
}
