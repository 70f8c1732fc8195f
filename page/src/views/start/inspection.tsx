/** What is at a path, and how its items should be compared. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { server } from "../../api/client";
import type { EncoderView, Inspection } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { Notice } from "../../components/notice";
import { SkippedFiles } from "../../components/skipped-files";
import { count, countItems } from "../../format";

const DEFAULT_MINUTES = 10;
const MAX_MINUTES = 1440;

interface Props {
  inspection: Inspection;
  /** `bursts`: whether near-duplicates are sorted together; `null`: as usual. */
  open: (encoder: string | null, minutes: number | null, bursts: boolean | null) => void;
  back: () => void;
}

export function InspectionResult({ inspection, open, back }: Props) {
  const [name, setName] = useState(inspection.encoder);
  const [minutes, setMinutes] = useState(DEFAULT_MINUTES);
  const [bursts, setBursts] = useState<boolean | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  const learns = inspection.encoders.find((encoder) => encoder.name === name)?.learns ?? false;
  const submit = () => {
    const unchanged = name === inspection.encoder && inspection.answers === 0;
    open(unchanged ? null : name, learns ? Math.min(MAX_MINUTES, Math.max(1, minutes)) : null, bursts);
  };
  return (
    <section class="inspection" aria-labelledby="inspection-title">
      <h2 id="inspection-title" ref={heading} tabIndex={-1}>
        {countItems(inspection.items, inspection.kind)} in {inspection.name}
      </h2>
      <p class="collection-path">{inspection.path}</p>
      {inspection.answers > 0 && (
        <Notice tone="info">
          You have given {count(inspection.answers, "answer")} here before. They are saved, and you continue where
          you left off.
        </Notice>
      )}
      <SkippedFiles total={inspection.skipped_total} files={inspection.skipped} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <details class="advanced">
          <summary>Advanced</summary>
          <fieldset class="option-cards">
            <legend>How should they be compared?</legend>
            {inspection.encoders.map((encoder) => (
              <EncoderOption
                key={encoder.name}
                encoder={encoder}
                checked={encoder.name === name}
                reason={encoder.name === inspection.encoder ? inspection.reason : ""}
                choose={() => setName(encoder.name)}
              />
            ))}
          </fieldset>
          {inspection.kind === "image" && inspection.answers === 0 && (
            <label class="bursts">
              <input
                type="checkbox"
                checked={bursts ?? true}
                onChange={(event) => setBursts(event.currentTarget.checked)}
              />
              Sort bursts and near-duplicates together: one answer counts for all of them.
            </label>
          )}
        </details>
        {learns ? (
          <label class="minutes">
            Train for
            <input
              type="number"
              min={1}
              max={MAX_MINUTES}
              value={minutes}
              onInput={(event) => setMinutes(Number(event.currentTarget.value) || 1)}
            />
            minutes. You can stop at any time and continue later.
          </label>
        ) : (
          <Estimate path={inspection.path} encoder={name} />
        )}
        <div class="form-actions">
          <button type="submit" class="primary">
            {inspection.answers > 0 ? "Continue sorting" : "Start sorting"}
          </button>
          <button type="button" class="quiet" onClick={back}>
            Back
          </button>
        </div>
      </form>
    </section>
  );
}

interface OptionProps {
  encoder: EncoderView;
  checked: boolean;
  reason: string;
  choose: () => void;
}

function EncoderOption({ encoder, checked, reason, choose }: OptionProps) {
  return (
    <label class={checked ? "option-card chosen" : "option-card"}>
      <input
        type="radio"
        name="encoder"
        value={encoder.name}
        checked={checked}
        disabled={encoder.why_not !== ""}
        onChange={choose}
      />
      <span>
        <strong>{encoder.name}</strong>
        {reason && <span class="recommended">recommended</span>}
        <span class="muted">
          {encoder.line}
          {reason && ` ${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`}
          {encoder.why_not && ` Not available: ${encoder.why_not}.`}
        </span>
      </span>
    </label>
  );
}

/** How long encoding would take, measured on a few items. */
function Estimate({ path, encoder }: { path: string; encoder: string }) {
  const { data, error } = useResource(
    (signal) => server.post("/api/start/measure", { body: { path, encoder }, signal }),
    [path, encoder],
  );
  return (
    <p class="estimate" role="status">
      {error ? `Could not measure: ${error.message}` : (data?.words ?? "Measuring how long this takes…")}
    </p>
  );
}
