/** Choose a format, see what would be written, write it. Exports to folders can be undone. */

import { useState } from "preact/hooks";
import { ApiError, type Client } from "../../api/client";
import type { ExportOptions, FormatView, JobView, PlanView } from "../../api/schema";
import { ErrorNotice } from "../../components/error-notice";
import { JobBar } from "../../components/job-bar";
import { Notice } from "../../components/notice";
import { useJob } from "../../components/use-job";
import { ago, count } from "../../format";
import type { Workspace } from "../../workspace/use-workspace";
import { Plan } from "./plan";
import "./export.css";

interface Props {
  workspace: Workspace;
  options: ExportOptions;
  reload: () => void;
}

export function Export({ workspace, options, reload }: Props) {
  const [chosen, setChosen] = useState<string>(options.formats.find(({ why_not }) => why_not === "")?.name ?? "csv");
  const [message, setMessage] = useState("");
  const format = options.formats.find(({ name }) => name === chosen);
  return (
    <section class="export" aria-labelledby="export-title">
      <h2 id="export-title">Format</h2>
      <div class="option-cards" role="radiogroup" aria-label="Export format">
        {options.formats.filter(({ other }) => !other).map(({ name, label, line, why_not }) => (
          <label key={name} class={name === chosen ? "option-card chosen" : "option-card"}>
            <input
              type="radio"
              name="format"
              value={name}
              checked={name === chosen}
              disabled={why_not !== ""}
              onChange={() => setChosen(name)}
            />
            <span>
              <strong>{label}</strong>
              <span class="muted">{why_not || line}</span>
            </span>
          </label>
        ))}
      </div>
      <OtherFormats formats={options.formats.filter(({ other }) => other)} chosen={format} choose={setChosen} />
      {format && (
        <FormatDetails
          key={`${format.name} ${workspace.session?.session}`}
          workspace={workspace}
          format={format}
          paths={options.paths}
          reload={reload}
          announce={setMessage}
        />
      )}
      {message && <Notice tone="info">{message}</Notice>}
      <PastExports workspace={workspace} options={options} reload={reload} announce={setMessage} />
    </section>
  );
}

interface OtherProps {
  formats: FormatView[];
  chosen: FormatView | undefined;
  choose: (name: string) => void;
}

/** Formats that fewer people need, in one list. */
function OtherFormats({ formats, chosen, choose }: OtherProps) {
  const other = chosen?.other ? chosen : undefined;
  return (
    <div class="other-formats">
      <label for="other-format">Other formats</label>
      <select
        id="other-format"
        value={other?.name ?? ""}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        <option value="" disabled>
          Choose…
        </option>
        {formats.map(({ name, label, why_not }) => (
          <option key={name} value={name} disabled={why_not !== ""}>
            {label}
          </option>
        ))}
      </select>
      {other && <span class="muted">{other.line}</span>}
    </div>
  );
}

/** Folders cannot be downloaded, only written. */
function downloadUrl(client: Client, format: FormatView["name"], noFormulas: boolean): string | undefined {
  if (format === "folders" || format === "albums" || format === "xmp" || format === "imagefolder") return undefined;
  if (format === "orientation") return client.url("/api/finish/orientation");
  return client.url("/api/export", { query: { format, ...(noFormulas && { no_formulas: true }) } });
}

interface FormatProps {
  workspace: Workspace;
  format: FormatView;
  paths: boolean;
  reload: () => void;
  announce: (message: string) => void;
}

function FormatDetails({ workspace, format, paths, reload, announce }: FormatProps) {
  const { client } = workspace;
  const [target, setTarget] = useState(format.suggestion);
  const [mode, setMode] = useState<"copy" | "link">("copy");
  const [noFormulas, setNoFormulas] = useState(false);
  const [plan, setPlan] = useState<PlanView | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [started, setStarted] = useState<JobView | null>(null);
  const [planning, setPlanning] = useState(false);
  const request = { format: format.name, mode, target, no_formulas: noFormulas };

  const job = useJob(started, (ended) => {
    setStarted(null);
    if (ended.state === "finished") announce(ended.words);
    else setError(new ApiError(200, ended.words));
    reload();
  });

  const preview = () => {
    setError(null);
    announce("");
    setPlanning(true);
    client
      .post("/api/finish/plan", { body: request })
      .then(
        (found) => {
          setPlan(found);
          workspace.refresh();
        },
        (problem: unknown) => {
          setPlan(null);
          setError(ApiError.from(problem));
        },
      )
      .finally(() => setPlanning(false));
  };

  const write = ({ snapshot }: PlanView) => {
    setPlan(null);
    client
      .post("/api/finish/run", { body: { ...request, snapshot } })
      .then(setStarted, (problem: unknown) => setError(ApiError.from(problem)));
  };

  return (
    <div class="format-details">
      {format.name === "csv" && (
        <label class="no-formulas">
          <input
            type="checkbox"
            checked={noFormulas}
            onChange={({ currentTarget }) => {
              setNoFormulas(currentTarget.checked);
              setPlan(null);
            }}
          />
          Safe for spreadsheets: names that look like formulas get an apostrophe
        </label>
      )}
      {format.download && format.why_not === "" && (
        <a class="button primary" href={downloadUrl(client, format.name, noFormulas)} download>
          Download
        </a>
      )}
      {paths && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            preview();
          }}
        >
          {format.modes.length > 0 && (
            <fieldset class="modes">
              <legend>Files</legend>
              {(["copy", "link"] as const)
                .filter((one) => format.modes.includes(one))
                .map((one) => (
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
                    {one === "copy" ? "Copy them" : "Link to them (needs no space)"}
                  </label>
                ))}
            </fieldset>
          )}
          <label for="target">
            {!format.download ? "New folder on this computer" : "Or save as a new file on this computer"}
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
            <button type="submit" disabled={target.trim() === "" || planning || started !== null}>
              {planning ? "Preparing…" : "Preview"}
            </button>
          </div>
        </form>
      )}
      <ErrorNotice error={error} />
      {job && <JobBar job={job} />}
      {plan && !job && <Plan plan={plan} write={() => write(plan)} />}
    </div>
  );
}

function PastExports({ workspace, options, reload, announce }: Props & Pick<FormatProps, "announce">) {
  if (options.made.length === 0) return null;
  const undo = (target: string) =>
    workspace.client.post("/api/finish/undo", { body: { target } }).then(
      ({ message, kept }) => {
        reload();
        announce([message, ...kept].join(" "));
      },
      (problem: unknown) => {
        const { message, whatToDo } = ApiError.from(problem);
        announce(`${message} ${whatToDo}`);
      },
    );
  return (
    <div class="past-exports">
      <h3>Past exports</h3>
      <ul>
        {options.made.map((made) => (
          <li key={made.job}>
            <code>{made.target}</code>
            <span class="muted">
              {count(made.files, "file")}, {ago(made.at)}
              {made.undone && ", undone"}
            </span>
            {made.undo && (
              <button type="button" onClick={() => void undo(made.target)}>
                Undo export
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
