/** The page to begin with: bring a pile, or go on with one. */

import { useCallback, useEffect, useState } from "preact/hooks";
import { Fault } from "../api";
import { going, jobs, start, type Found, type Job, type StartInfo } from "../jobs-api";
import { Notice } from "../parts/notice";
import { FoundPile } from "../start/found";
import { JobBar } from "../start/job-bar";
import { RecentPiles } from "../start/recent";
import { useJob } from "../start/use-job";

interface Props {
  /** The pile that the address names and that is not open yet. */
  wanted: string | null;
  /** What to do when a pile is open. */
  opened: (pile: string) => void;
}

export function Start({ wanted, opened }: Props) {
  const [about, setAbout] = useState<StartInfo | null>(null);
  const [path, setPath] = useState("");
  const [found, setFound] = useState<Found | null>(null);
  const [begun, setBegun] = useState<Job | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const [cutOff, setCutOff] = useState<Job[]>([]);
  const [looking, setLooking] = useState(false);

  const job = useJob(begun, (done) => {
    if (done.state === "finished") opened(done.pile);
    else {
      setBegun(null);
      setFault(new Fault(200, done.words));
      void refresh();
    }
  });

  const refresh = useCallback(async () => {
    const [info, list] = await Promise.all([start.about(), jobs.all()]);
    setAbout(info);
    const openings = list.jobs.filter((one) => one.kind === "open");
    setCutOff(openings.filter((one) => one.state === "interrupted" && one.can_go_on));
    return openings;
  }, []);

  const tried = (work: Promise<Job>) => {
    setFault(null);
    work.then(setBegun, (problem: Fault) => setFault(problem));
  };

  useEffect(() => {
    document.title = "samekind";
    refresh().then(
      (openings) => {
        const under = openings.find((one) => going(one) && (!wanted || one.pile === wanted));
        if (under) setBegun(under);
        else if (wanted) tried(start.again(wanted));
      },
      (problem: Fault) => setFault(problem),
    );
  }, [wanted]);

  const look = (where: string) => {
    setFault(null);
    setLooking(true);
    start
      .look(where)
      .then(setFound, (problem: Fault) => setFault(problem))
      .finally(() => setLooking(false));
  };

  return (
    <main class="start">
      <header class="start-head">
        <strong class="wordmark">samekind</strong>
        <span class="quiet-text">{about && `version ${about.version}`}</span>
      </header>
      {fault && (
        <Notice tone="warning">
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      {job && going(job) ? (
        <>
          <h1>Opening a pile</h1>
          <JobBar job={job} />
          <p class="quiet-text">
            You may close this tab: the work goes on, and this address leads back to it.
          </p>
        </>
      ) : found ? (
        <FoundPile
          found={found}
          back={() => setFound(null)}
          open={(encoder, minutes) => tried(start.open(found.path, encoder, minutes))}
        />
      ) : (
        <>
          <h1>What shall be sorted?</h1>
          <p class="why">
            Bring a folder of pictures or texts, or a table. Answer a few questions, and get the
            grouping that you have in mind. Nothing leaves this machine.
          </p>
          {about?.paths && (
            <PathForm path={path} setPath={setPath} look={look} looking={looking} about={about} />
          )}
          {about && !about.paths && (
            <p>This server can be reached by others, so no paths are opened from this page.</p>
          )}
          {cutOff.map((one) => (
            <Notice
              key={one.id}
              tone="info"
              act={{ label: "Go on", go: () => tried(jobs.again(one.id)) }}
            >
              <strong>{one.title}</strong> was cut off. What was done is kept.
            </Notice>
          ))}
          {about && (
            <RecentPiles
              piles={about.recent}
              open={(pile) => tried(start.again(pile))}
              forget={(pile) => void start.forget(pile).then(setAbout, () => undefined)}
            />
          )}
          {about?.demos.map((one) => (
            <section class="demo" key={one.path}>
              <h2>Nothing at hand?</h2>
              <button
                type="button"
                class="pile-card"
                onClick={() => tried(start.open(one.path, null, null))}
              >
                <span class="pile-name">Try the demo</span>
                <span class="quiet-text">{one.line}</span>
              </button>
            </section>
          ))}
        </>
      )}
    </main>
  );
}

interface FormProps {
  path: string;
  setPath: (path: string) => void;
  look: (path: string) => void;
  looking: boolean;
  about: StartInfo;
}

function PathForm({ path, setPath, look, looking, about }: FormProps) {
  return (
    <>
      <form
        class="path-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (path.trim() !== "") look(path);
        }}
      >
        <label for="path">Path of a folder or table on this machine</label>
        <div class="path-row">
          <input
            id="path"
            value={path}
            maxLength={4000}
            placeholder="~/Pictures/holiday"
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            onInput={(event) => setPath(event.currentTarget.value)}
          />
          <button type="submit" class="primary" disabled={path.trim() === "" || looking}>
            {looking ? "Looking …" : "Look"}
          </button>
        </div>
      </form>
      <details class="kinds">
        <summary>What can be opened?</summary>
        <dl>
          {Object.entries(about.kinds).map(([name, line]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{line}</dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  );
}
