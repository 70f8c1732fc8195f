/** The first page: open a collection, or continue with a recent one. */

import { useEffect, useState } from "preact/hooks";
import { ApiError, server } from "../../api/client";
import type { Inspection, JobView, StartView } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { JobBar } from "../../components/job-bar";
import { Notice } from "../../components/notice";
import { isRunning, useJob } from "../../components/use-job";
import { count } from "../../format";
import { DropZone } from "./drop-zone";
import { FolderPicker } from "./folder-picker";
import { InspectionResult } from "./inspection";
import { RecentCollections } from "./recent";
import { type Dropped, upload } from "./upload";
import "./start.css";

interface Props {
  /** The collection that the address names and that is not open yet. */
  wanted: string | null;
  /** Called when a collection is open. */
  opened: (pile: string) => void;
}

const reopen = (pile: string) => server.post("/api/start/again", { body: { pile } });

export function StartPage({ wanted, opened }: Props) {
  const start = useResource((signal) => server.get("/api/start", { signal }), []);
  const jobs = useResource((signal) => server.get("/api/jobs", { signal }), []);
  const [path, setPath] = useState("");
  const [inspection, setInspection] = useState<Inspection | null>(null);
  const [started, setStarted] = useState<JobView | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [inspecting, setInspecting] = useState(false);
  const fail = (problem: unknown) => setError(ApiError.from(problem));
  const openings = jobs.data?.jobs.filter((job) => job.kind === "open") ?? [];

  const job = useJob(started, (ended) => {
    if (ended.state === "finished") return opened(ended.pile);
    setStarted(null);
    setError(new ApiError(200, ended.words));
    start.reload();
    jobs.reload();
  });
  // Questions can begin before all items are analysed.
  const ready = job !== null && job.ready === true && isRunning(job);
  useEffect(() => {
    if (ready) opened(job?.pile ?? "");
  }, [ready]);
  const begin = (request: Promise<JobView>) => {
    setError(null);
    request.then(setStarted, fail);
  };

  useEffect(() => {
    document.title = "samekind";
  }, []);
  // Once: show an opening that is under way, or open what the address names.
  const [resumed, setResumed] = useState(false);
  useEffect(() => {
    if (jobs.data === null || resumed) return;
    setResumed(true);
    const running = openings.find((one) => isRunning(one) && (!wanted || one.pile === wanted));
    if (running) setStarted(running);
    else if (wanted) begin(reopen(wanted));
  }, [jobs.data]);

  const inspect = (at: string) => {
    setError(null);
    setInspecting(true);
    server
      .post("/api/start/look", { body: { path: at } })
      .then(setInspection, fail)
      .finally(() => setInspecting(false));
  };
  const [picking, setPicking] = useState(false);
  const [copying, setCopying] = useState<[done: number, total: number] | null>(null);
  const suffixes = start.data?.suffixes ?? [];
  const bring = (files: Dropped[]) => {
    if (files.length === 0 || copying !== null) return;
    setError(null);
    setCopying([0, files.length]);
    upload(files, suffixes, (done, total) => setCopying([done, total]))
      .then(({ path }) => openPath(path, null, null), fail)
      .finally(() => setCopying(null));
  };
  const openPath = (
    target: string,
    encoder: string | null = null,
    minutes: number | null = null,
    bursts: boolean | null = null,
  ) => begin(server.post("/api/start/open", { body: { path: target, encoder, minutes, bursts } }));

  if (start.error?.type === "not-on-a-phone") return <NotHere error={start.error} />;
  return (
    <main class="start">
      <header class="start-head">
        <strong class="wordmark">samekind</strong>
        <span class="muted">{start.data && `version ${start.data.version}`}</span>
      </header>
      <ErrorNotice error={error ?? start.error} {...(start.error && { retry: start.reload })} />
      {copying ? (
        <>
          <h1>Copying your files</h1>
          <progress class="copying" aria-label="Files copied" max={copying[1]} value={copying[0]} />
          <p class="muted" role="status">
            {count(copying[0], "file")} of {count(copying[1], "file")} copied. Keep this page open.
          </p>
        </>
      ) : job && isRunning(job) ? (
        <>
          <h1>Opening your collection</h1>
          <JobBar job={job} />
          <p class="muted">You can close this tab. The work continues, and this address leads back to it.</p>
        </>
      ) : inspection ? (
        <InspectionResult
          inspection={inspection}
          back={() => setInspection(null)}
          open={(encoder, minutes, bursts) => openPath(inspection.path, encoder, minutes, bursts)}
        />
      ) : (
        <>
          <h1>What would you like to sort?</h1>
          <p class="lead">
            Choose a folder of pictures or texts, or a table. Answer a few questions, and samekind sorts
            everything the way you have in mind. Nothing leaves this computer.
          </p>
          {start.data?.paths && (
            <>
              <DropZone bring={bring} browse={() => setPicking(true)} />
              <PathForm
                path={path}
                setPath={setPath}
                inspect={() => inspect(path)}
                inspecting={inspecting}
                kinds={start.data.kinds}
              />
            </>
          )}
          {picking && (
            <FolderPicker
              close={() => setPicking(false)}
              choose={(at) => {
                setPicking(false);
                setPath(at);
                inspect(at);
              }}
            />
          )}
          {start.data && !start.data.paths && (
            <p>Other people can reach this server, so folders cannot be opened from this page.</p>
          )}
          {openings
            .filter((one) => one.state === "interrupted" && one.can_go_on)
            .map((one) => (
              <Notice
                key={one.id}
                tone="info"
                action={{
                  label: "Continue",
                  run: () => begin(server.post("/api/jobs/{id}/again", { path: { id: one.id } })),
                }}
              >
                <strong>{one.title}</strong> was interrupted. What was done so far is saved.
              </Notice>
            ))}
          {start.data && (
            <RecentCollections
              recent={start.data.recent}
              open={(pile) => begin(reopen(pile))}
              remove={(pile) =>
                void server.post("/api/start/forget", { body: { pile } }).then(start.replace, fail)
              }
            />
          )}
          {start.data?.demos.map((demo) => (
            <section class="demo" key={demo.path}>
              <h2>Just want to try it?</h2>
              <button type="button" class="collection-card" onClick={() => openPath(demo.path, null, null)}>
                <span class="collection-name">Try the demo</span>
                <span class="muted">{demo.line}</span>
              </button>
            </section>
          ))}
        </>
      )}
    </main>
  );
}

/** A phone sees no files of the computer, so there is nothing to choose from. */
function NotHere({ error }: { error: ApiError }) {
  return (
    <main class="start">
      <header class="start-head">
        <strong class="wordmark">samekind</strong>
      </header>
      <h1>Open another pile on the computer</h1>
      <ErrorNotice error={error} />
      <p class="form-actions">
        <a class="button primary" href="/">
          Answer questions
        </a>
      </p>
    </main>
  );
}

interface FormProps {
  path: string;
  setPath: (path: string) => void;
  inspect: () => void;
  inspecting: boolean;
  kinds: StartView["kinds"];
}

function PathForm({ path, setPath, inspect, inspecting, kinds }: FormProps) {
  const empty = path.trim() === "";
  return (
    <>
      <form
        class="path-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!empty) inspect();
        }}
      >
        <label for="path">Or type where they are</label>
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
          <button type="submit" class="primary" disabled={empty || inspecting}>
            {inspecting ? "Opening…" : "Open"}
          </button>
        </div>
      </form>
      <details class="kinds">
        <summary>What can I open?</summary>
        <dl>
          {Object.entries(kinds).map(([name, line]) => (
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
