/** What is at a path, and how its items shall be compared. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Fault } from "../api";
import { start, type Encoder, type Found, type Measured } from "../jobs-api";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { things } from "./words";

interface Props {
  found: Found;
  open: (encoder: string | null, minutes: number | null) => void;
  back: () => void;
}

export function FoundPile({ found, open, back }: Props) {
  const [encoder, setEncoder] = useState(found.encoder);
  const [minutes, setMinutes] = useState(10);
  const head = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => head.current?.focus(), []);
  const chosen = found.encoders.find((one) => one.name === encoder);
  return (
    <section class="found" aria-labelledby="found-title">
      <h2 id="found-title" ref={head} tabIndex={-1}>
        {things(found.items, found.kind)} in {found.name}
      </h2>
      <p class="pile-path">{found.path}</p>
      {found.answers > 0 && (
        <Notice tone="info">
          You have given {count(found.answers, "answer")} about this pile before. They are kept, and
          you go on where you stopped.
        </Notice>
      )}
      {found.skipped_total > 0 && (
        <details>
          <summary>{count(found.skipped_total, "file is", "files are")} left out</summary>
          <ul class="skipped">
            {found.skipped.map((one) => (
              <li key={one.id}>
                <code>{one.id}</code> {one.reason}
              </li>
            ))}
          </ul>
        </details>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          open(encoder === found.encoder && found.answers === 0 ? null : encoder, learning());
        }}
      >
        <fieldset class="encoders">
          <legend>How shall they be compared?</legend>
          {found.encoders.map((one) => (
            <EncoderChoice
              key={one.name}
              encoder={one}
              checked={one.name === encoder}
              reason={one.name === found.encoder ? found.reason : ""}
              choose={() => setEncoder(one.name)}
            />
          ))}
        </fieldset>
        {chosen?.learns ? (
          <label class="minutes">
            Let it learn for
            <input
              type="number"
              min={1}
              max={1440}
              value={minutes}
              onInput={(event) => setMinutes(Number(event.currentTarget.value) || 1)}
            />
            minutes; it can be stopped and goes on later.
          </label>
        ) : (
          <Estimate key={encoder} path={found.path} encoder={encoder} />
        )}
        <div class="found-acts">
          <button type="submit" class="primary">
            Open this pile
          </button>
          <button type="button" class="quiet" onClick={back}>
            Choose another
          </button>
        </div>
      </form>
    </section>
  );

  function learning(): number | null {
    return chosen?.learns ? Math.min(1440, Math.max(1, minutes)) : null;
  }
}

interface ChoiceProps {
  encoder: Encoder;
  checked: boolean;
  reason: string;
  choose: () => void;
}

function EncoderChoice({ encoder, checked, reason, choose }: ChoiceProps) {
  return (
    <label class={checked ? "encoder chosen" : "encoder"}>
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
        {reason && <span class="suggested">suggested</span>}
        <span class="quiet-text">
          {encoder.line}
          {reason && <em> Chosen for you: {reason}.</em>}
          {encoder.why_not && <em> Not possible here: {encoder.why_not}.</em>}
        </span>
      </span>
    </label>
  );
}

/** Measured on a few items, each time another encoder is chosen. */
function Estimate({ path, encoder }: { path: string; encoder: string }) {
  const [measured, setMeasured] = useState<Measured | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  useEffect(() => {
    let left = false;
    start.measure(path, encoder).then(
      (found) => left || setMeasured(found),
      (problem: Fault) => left || setFault(problem),
    );
    return () => {
      left = true;
    };
  }, [path, encoder]);
  return (
    <p class="estimate" role="status">
      {fault ? `It cannot be tried: ${fault.message}` : null}
      {!fault && (measured ? measured.words : "Trying it on a few items, to tell how long it takes …")}
    </p>
  );
}
