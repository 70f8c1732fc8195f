/** Deep polish: a network learns in the background; its groups count when they are accepted. */

import { useEffect, useState } from "preact/hooks";
import { Fault } from "../api";
import type { Desk } from "../desk";
import { FinishApi, going, jobs, type Job, type PolishInfo } from "../jobs-api";
import { Notice } from "../parts/notice";
import { JobBar } from "../start/job-bar";
import { useJob } from "../start/use-job";
import { Comparison } from "./compare";

interface Props {
  desk: Desk;
  api: FinishApi;
}

export function Polish({ desk, api }: Props) {
  const [about, setAbout] = useState<PolishInfo | null>(null);
  const [begun, setBegun] = useState<Job | null>(null);
  const [cutOff, setCutOff] = useState<Job | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const answers = desk.now?.progress.answers;

  const load = () => {
    api.polish().then(setAbout, (problem: Fault) => setFault(problem));
  };
  useEffect(load, [api, answers]);
  useEffect(() => {
    const session = desk.about?.session;
    if (session === undefined) return;
    jobs.all().then(
      (list) => {
        const mine = list.jobs.filter((one) => one.kind === "polish" && one.session === session);
        setBegun(mine.find(going) ?? null);
        const last = mine[0];
        setCutOff(last && last.state === "interrupted" && last.can_go_on ? last : null);
      },
      () => undefined,
    );
  }, [desk.about?.session]);

  const job = useJob(begun, (done) => {
    setBegun(null);
    if (done.state !== "finished") setFault(new Fault(200, done.words));
    load();
  });
  const begin = (work: Promise<Job>) => {
    setFault(null);
    setCutOff(null);
    work.then(setBegun, (problem: Fault) => setFault(problem));
  };
  const decide = (what: "accept" | "reject" | "back") => {
    setFault(null);
    api.decide(what).then(
      (found) => {
        setAbout(found);
        desk.refresh();
      },
      (problem: Fault) => setFault(problem),
    );
  };

  if (about === null) return null;
  return (
    <section class="polish" aria-labelledby="polish-title">
      <h2 id="polish-title">Polish</h2>
      <p class="why">
        A network can learn from all your pictures and answers together. It runs in the background
        while you go on.
      </p>
      {fault && (
        <Notice tone="warning">
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      {about.accepted && (
        <Notice tone="info" act={{ label: "Take the polish back", go: () => decide("back") }}>
          The groups you see are polished ({about.accepted}).
        </Notice>
      )}
      {cutOff && !job && (
        <Notice tone="info" act={{ label: "Go on", go: () => begin(jobs.again(cutOff.id)) }}>
          <strong>{cutOff.title}</strong> was cut off. What it had learnt is kept.
        </Notice>
      )}
      {job ? (
        <JobBar job={job} />
      ) : about.result ? (
        <div class="polish-result">
          <Comparison result={about.result} />
          <div class="found-acts">
            <button type="button" class="primary" onClick={() => decide("accept")}>
              Take the polished groups
            </button>
            <button type="button" onClick={() => decide("reject")}>
              Keep the groups of now
            </button>
          </div>
        </div>
      ) : about.offered ? (
        <PolishForm about={about} begin={(method, minutes) => begin(api.begin(method, minutes))} />
      ) : (
        <p>{about.why_not}</p>
      )}
    </section>
  );
}

interface FormProps {
  about: PolishInfo;
  begin: (method: string, minutes: number) => void;
}

function PolishForm({ about, begin }: FormProps) {
  const [method, setMethod] = useState(about.methods[0]?.name ?? "");
  const [minutes, setMinutes] = useState(about.minutes);
  const line = about.methods.find((one) => one.name === method)?.line;
  return (
    <form
      class="polish-form"
      onSubmit={(event) => {
        event.preventDefault();
        begin(method, Math.min(1440, Math.max(0.1, minutes)));
      }}
    >
      <p>{about.estimate}</p>
      <p class="quiet-text">{about.advice}</p>
      <div class="polish-row">
        <label>
          Method
          <select value={method} onChange={(event) => setMethod(event.currentTarget.value)}>
            {about.methods.map((one) => (
              <option key={one.name} value={one.name}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Minutes
          <input
            type="number"
            min={0.1}
            max={1440}
            step="any"
            value={minutes}
            onInput={(event) => setMinutes(Number(event.currentTarget.value) || about.minutes)}
          />
        </label>
        <button type="submit">Begin in the background</button>
      </div>
      <p class="quiet-text">{line?.replaceAll("`", "")}</p>
    </form>
  );
}
