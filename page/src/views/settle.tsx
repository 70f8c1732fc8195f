/** One contradiction: its answers side by side, and the one question that settles it. */

import { useState } from "preact/hooks";
import type { Answer } from "../api";
import type { Desk } from "../desk";
import { ItemView } from "../items/item";
import { meaning, taken, useKeys } from "../keys";
import { usePicks } from "../picks";
import type { Clash, Doubt, Step } from "../progress-api";
import { QuestionView } from "../questions/registry";
import { useBindings } from "../bindings";
import type { Settled } from "./conflicts";

interface Props {
  clash: Clash;
  desk: Desk;
  edit: (answer: Answer) => void;
  settled: (done: Settled) => void;
  /** Whether keys belong to something else, as a dialog. */
  hushed: boolean;
}

/** What choosing leads to: an answer to change, another question, or nothing that helps. */
export type Outcome =
  | { change: number; to: string; forced: boolean }
  | { ask: Doubt; sure: number[] }
  | { stuck: true };

/**
 * What the person's choice in the question of `asked` means.
 *
 * Another choice than before changes that answer. The same one again confirms it; when all but one
 * are confirmed, the last one must be wrong, and what it has to be follows from the others.
 */
export function outcome(
  settle: Doubt[],
  sure: number[],
  asked: Doubt,
  before: string,
  choice: string,
): Outcome {
  if (choice !== before) return { change: asked.number, to: choice, forced: false };
  const confirmed = [...sure, asked.number];
  const left = settle.filter((one) => !confirmed.includes(one.number));
  const last = left[0];
  if (last === undefined) return { stuck: true };
  if (left.length === 1 && last.implied !== null) {
    return { change: last.number, to: last.implied, forced: true };
  }
  return { ask: last, sure: confirmed };
}

export function Settle({ clash, desk, edit, settled, hushed }: Props) {
  const answers = [...clash.clash, clash.answer].sort((a, b) => a.number - b.number);
  const [sure, setSure] = useState<number[]>([]);
  const [asked, setAsked] = useState<Doubt | null>(clash.settle[0] ?? null);
  const { bound } = useBindings();
  const told = answers.find((one) => one.number === asked?.number) ?? null;
  const question = told && bound(told.question);

  const change = (number: number, to: string, words: string) => {
    const before = answers.find((one) => one.number === number)?.choice;
    void desk.change(number, to).then(() => {
      settled({ words, back: () => before !== undefined && void desk.change(number, before) });
    });
  };
  const choose = (choice: string) => {
    if (asked === null || told === null) return;
    const found = outcome(clash.settle, sure, asked, told.choice, choice);
    if ("ask" in found) {
      setSure(found.sure);
      setAsked(found.ask);
    } else if ("stuck" in found) setAsked(null);
    else {
      const words = found.forced
        ? `Then answer ${found.change} was the wrong one. It is changed to fit the others.`
        : `Settled: answer ${found.change} is changed.`;
      change(found.change, found.to, words);
    }
  };
  const { picked, press } = usePicks(question, choose);
  useKeys((event) => {
    if (hushed || taken(event.target, event.key)) return;
    const meant = meaning(event, question, []);
    if (meant === null || !("choose" in meant)) return;
    event.preventDefault();
    press(meant.choose);
  });

  return (
    <section class="conflict">
      <p>
        <strong>These {answers.length} answers cannot all be true.</strong> The latest one is kept
        aside until this is settled.
      </p>
      <ul class="clash">
        {answers.map((answer) => (
          <Said
            key={answer.number}
            answer={answer}
            steps={clash.steps.filter((step) => step.number === answer.number)}
            aside={answer.number === clash.answer.number}
            sure={sure.includes(answer.number)}
            edit={() => edit(answer)}
          />
        ))}
      </ul>
      {question ? (
        <div class="settle">
          <p class="settle-head">
            {sure.length === 0 ? "This question settles it." : "Then look at this one again."} Answer
            it as you see it now.
          </p>
          <h2>{question.prompt}</h2>
          <QuestionView
            key={question.number}
            question={question}
            chosen={null}
            picked={picked}
            choose={press}
          />
        </div>
      ) : (
        <p class="settle-head">
          You stand by all of them, so the latest stays aside. You can change any of them above, or
          leave it as it is.
        </p>
      )}
    </section>
  );
}

interface SaidProps {
  answer: Answer;
  steps: Step[];
  aside: boolean;
  sure: boolean;
  edit: () => void;
}

/** One of the clashing answers: what it says, link by link. */
function Said({ answer, steps, aside, sure, edit }: SaidProps) {
  return (
    <li class={aside ? "answer clash-card aside" : "answer clash-card"}>
      {steps.map((step) => (
        <div key={`${step.a.id} ${step.b.id}`} class="step">
          <ItemView item={step.a} size="small" />
          <span class={step.same ? "sign same" : "sign different"}>
            <span aria-hidden="true">{step.same ? "=" : "≠"}</span>
            <span class="sign-words">{step.same ? "same kind" : "different"}</span>
          </span>
          <ItemView item={step.b} size="small" />
        </div>
      ))}
      <div class="clash-foot">
        <span class="quiet-text">
          Answer {answer.number}: {answer.label}
          {aside && ", kept aside"}
          {sure && ", confirmed"}
        </span>
        <button type="button" class="quiet" onClick={edit} aria-label={`Change answer ${answer.number}`}>
          Change
        </button>
      </div>
    </li>
  );
}
