/** What can be taken home: choose, look at the plan, write; folders can be taken back. */

import { useState } from "preact/hooks";
import { Fault } from "../api";
import type { Desk } from "../desk";
import { FinishApi, type FinishInfo, type Format, type Job, type Plan } from "../jobs-api";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { JobBar } from "../start/job-bar";
import { useJob } from "../start/use-job";
import { ago } from "../start/words";
import { PlanView } from "./plan";

interface Props {
  desk: Desk;
  api: FinishApi;
  about: FinishInfo;
  refresh: () => void;
}

export function Export({ desk, api, about, refresh }: Props) {
  const [chosen, setChosen] = useState(about.formats[0]?.name ?? "csv");
  const [said, setSaid] = useState("");
  const format = about.formats.find((one) => one.name === chosen);
  return (
    <section class="export" aria-labelledby="export-title">
      <h2 id="export-title">Export</h2>
      <div class="formats" role="radiogroup" aria-label="What to take home">
        {about.formats.map((one) => (
          <label key={one.name} class={one.name === chosen ? "format chosen" : "format"}>
            <input
              type="radio"
              name="format"
              value={one.name}
              checked={one.name === chosen}
              disabled={one.why_not !== ""}
              onChange={() => setChosen(one.name)}
            />
            <span>
              <strong>{one.label}</strong>
              <span class="quiet-text">{one.why_not || one.line}</span>
            </span>
          </label>
        ))}
      </div>
      {format && (
        <OneFormat
          key={`${format.name} ${desk.about?.session}`}
          desk={desk}
          api={api}
          format={format}
          paths={about.paths}
          refresh={refresh}
          say={setSaid}
        />
      )}
      {said && <Notice tone="info">{said}</Notice>}
      <MadeList api={api} about={about} refresh={refresh} say={setSaid} />
    </section>
  );
}

interface FormatProps {
  desk: Desk;
  api: FinishApi;
  format: Format;
  paths: boolean;
  refresh: () => void;
  say: (words: string) => void;
}

function OneFormat({ desk, api, format, paths, refresh, say }: FormatProps) {
  const [target, setTarget] = useState(format.suggestion);
  const [mode, setMode] = useState("copy");
  const [plan, setPlan] = useState<Plan | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const [begun, setBegun] = useState<Job | null>(null);
  const [planning, setPlanning] = useState(false);

  const job = useJob(begun, (done) => {
    setBegun(null);
    if (done.state === "finished") say(done.words);
    else setFault(new Fault(200, done.words));
    refresh();
  });

  const show = () => {
    setFault(null);
    say("");
    setPlanning(true);
    api
      .plan({ format: format.name, mode, target })
      .then(
        (found) => {
          setPlan(found);
          desk.refresh();
        },
        (problem: Fault) => {
          setPlan(null);
          setFault(problem);
        },
      )
      .finally(() => setPlanning(false));
  };

  const write = (of: Plan) => {
    setPlan(null);
    api
      .run({ format: format.name, mode, target }, of.snapshot)
      .then(setBegun, (problem: Fault) => setFault(problem));
  };

  return (
    <div class="one-format">
      {format.download && format.why_not === "" && (
        <a class="button" href={api.file(format.name)} download>
          Download it
        </a>
      )}
      {paths && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            show();
          }}
        >
          {format.modes.length > 0 && (
            <fieldset class="modes">
              <legend>The files themselves</legend>
              {format.modes.map((one) => (
                <label key={one}>
                  <input
                    type="radio"
                    name="mode"
                    value={one}
                    checked={one === mode}
                    onChange={() => {
                      setMode(one);
                      setPlan(null);
                    }}
                  />
                  {one === "copy" ? "Copy them" : "Link to them (no room needed)"}
                </label>
              ))}
            </fieldset>
          )}
          <label for="target">
            {format.name === "folders" ? "Into a new folder on this machine" : "Or write it to a new file on this machine"}
          </label>
          <div class="path-row">
            <input
              id="target"
              value={target}
              maxLength={4000}
              spellcheck={false}
              autocomplete="off"
              autocapitalize="off"
              onInput={(event) => {
                setTarget(event.currentTarget.value);
                setPlan(null);
              }}
            />
            <button type="submit" disabled={target.trim() === "" || planning || begun !== null}>
              {planning ? "Planning …" : "Show the plan"}
            </button>
          </div>
        </form>
      )}
      {fault && (
        <Notice tone="warning">
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      {job && <JobBar job={job} />}
      {plan && !job && <PlanView plan={plan} write={() => write(plan)} />}
    </div>
  );
}

function MadeList({ api, about, refresh, say }: Omit<Props, "desk"> & Pick<FormatProps, "say">) {
  if (about.made.length === 0) return null;
  const takeBack = (target: string) =>
    api.undo(target).then(
      (done) => {
        refresh();
        say([done.message, ...done.kept].join(" "));
      },
      (problem: Fault) => say(`${problem.message} ${problem.whatToDo}`),
    );
  return (
    <div class="made">
      <h3>Written so far</h3>
      <ul>
        {about.made.map((one) => (
          <li key={one.job}>
            <code>{one.target}</code>
            <span class="quiet-text">
              {count(one.files, "file")}, {ago(one.at)}
              {one.undone && ", taken back"}
            </span>
            {one.undo && (
              <button type="button" onClick={() => void takeBack(one.target)}>
                Take it back
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
