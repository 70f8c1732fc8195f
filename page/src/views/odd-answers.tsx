/** Answers that all others speak against: likely slips, to be looked at again or confirmed. */

import { useState } from "preact/hooks";
import type { Answer } from "../api";
import type { Desk } from "../desk";
import { AnswerItems } from "../parts/answer-items";
import type { Odd } from "../progress-api";
import { pileHere } from "../start/pile";

interface Props {
  desk: Desk;
  odd: Odd[];
  edit: (answer: Answer) => void;
}

/** An answer as it was confirmed; another choice is another answer. */
function sign(answer: Answer): string {
  return `${answer.number}=${answer.choice}`;
}

/** Answers that the person has confirmed, kept in this browser. */
export function confirmed(name: string, storage: Storage = localStorage): string[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(`samekind:right:${name}`) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

export function confirm(name: string, answer: Answer, storage: Storage = localStorage): void {
  const all = [...new Set([...confirmed(name, storage), sign(answer)])];
  try {
    storage.setItem(`samekind:right:${name}`, JSON.stringify(all));
  } catch {
    // A browser that keeps nothing asks again.
  }
}

export function OddAnswers({ desk, odd, edit }: Props) {
  const name = `${pileHere() ?? ""}/${desk.about?.session ?? ""}`;
  // Read for the name that is known by now: it comes later than the first drawing.
  const [, draw] = useState(0);
  const right = confirmed(name);
  const open = odd.filter((one) => !right.includes(sign(one.answer)));
  if (open.length === 0) return null;
  return (
    <section class="odd-answers" aria-labelledby="odd-head">
      <h2 id="odd-head">Perhaps a slip?</h2>
      <p class="quiet-text">
        These answers do not contradict anything, but the others speak against them. Nothing was
        changed.
      </p>
      <ul class="answer-list">
        {open.map((one) => (
          <li key={one.answer.number} class="answer odd-answer">
            <AnswerItems answer={one.answer} />
            <span>{one.words}</span>
            <span class="odd-acts">
              <button type="button" onClick={() => edit(one.answer)}>
                Look again
              </button>
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  confirm(name, one.answer);
                  draw((n) => n + 1);
                }}
                aria-label={`Answer ${one.answer.number} is right`}
              >
                It is right
              </button>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
