/** One contradiction: its answers side by side, and the one question that resolves it. */

import { useState } from "preact/hooks";
import type { AnswerView, ContradictionStep, ContradictionView, SuspectAnswer } from "../../api/schema";
import { Item } from "../../components/item";
import { Question } from "../../components/question/question";
import { useMarks } from "../../components/question/use-marks";
import { useShortcuts } from "../../keyboard/bindings";
import { commandFor, isHandledByFocus, useKeys } from "../../keyboard/keys";
import type { Workspace } from "../../workspace/use-workspace";

/** What was done to resolve a contradiction, and how to undo it. */
export interface Resolution {
  message: string;
  undo: () => void;
}

/** What a choice leads to: an answer to change, another question, or nothing that helps. */
export type Outcome =
  | { change: number; to: string; forced: boolean }
  | { ask: SuspectAnswer; confirmed: number[] }
  | { stuck: true };

/**
 * What a choice in the question about `asked` means.
 *
 * Another choice than before changes that answer. The same choice confirms it. Once all but one are
 * confirmed, the last one must be wrong, and its right choice follows from the others.
 */
export function outcomeOf(
  suspects: SuspectAnswer[],
  confirmed: number[],
  asked: SuspectAnswer,
  before: string,
  choice: string,
): Outcome {
  if (choice !== before) return { change: asked.number, to: choice, forced: false };
  const nowConfirmed = [...confirmed, asked.number];
  const left = suspects.filter((suspect) => !nowConfirmed.includes(suspect.number));
  const next = left[0];
  if (next === undefined) return { stuck: true };
  if (left.length === 1 && next.implied !== null) {
    return { change: next.number, to: next.implied, forced: true };
  }
  return { ask: next, confirmed: nowConfirmed };
}

interface Props {
  contradiction: ContradictionView;
  workspace: Workspace;
  edit: (answer: AnswerView) => void;
  resolved: (resolution: Resolution) => void;
  /** Whether keys belong to something else, such as a dialog. */
  muted: boolean;
}

export function Settle({ contradiction, workspace, edit, resolved, muted }: Props) {
  const answers = [...contradiction.clash, contradiction.answer].sort((a, b) => a.number - b.number);
  const [confirmed, setConfirmed] = useState<number[]>([]);
  const [asked, setAsked] = useState<SuspectAnswer | null>(contradiction.settle[0] ?? null);
  const { bindQuestion } = useShortcuts();
  const suspect = answers.find((answer) => answer.number === asked?.number) ?? null;
  const question = suspect && bindQuestion(suspect.question);

  const change = (number: number, to: string, message: string) => {
    const before = answers.find((answer) => answer.number === number)?.choice;
    const undo = () => before !== undefined && void workspace.change(number, before);
    void workspace.change(number, to).then(() => resolved({ message, undo }));
  };
  const choose = (choice: string) => {
    if (asked === null || suspect === null) return;
    const outcome = outcomeOf(contradiction.settle, confirmed, asked, suspect.choice, choice);
    if ("ask" in outcome) {
      setConfirmed(outcome.confirmed);
      setAsked(outcome.ask);
    } else if ("stuck" in outcome) setAsked(null);
    else {
      const message = outcome.forced
        ? `Then answer ${outcome.change} was wrong. It was changed to fit the others.`
        : `Resolved: answer ${outcome.change} was changed.`;
      change(outcome.change, outcome.to, message);
    }
  };
  const { marked, press } = useMarks(question, choose);
  useKeys((event) => {
    if (muted || isHandledByFocus(event.target, event.key)) return;
    const command = commandFor(event, question, []);
    if (command === null || !("choose" in command)) return;
    event.preventDefault();
    press(command.choose);
  });

  return (
    <section class="conflict">
      <p>
        <strong>These {answers.length} answers cannot all be true.</strong> The latest one is set aside
        until you decide.
      </p>
      <ul class="clash">
        {answers.map((answer) => (
          <ClashingAnswer
            key={answer.number}
            answer={answer}
            steps={contradiction.steps.filter((step) => step.number === answer.number)}
            aside={answer.number === contradiction.answer.number}
            confirmed={confirmed.includes(answer.number)}
            edit={() => edit(answer)}
          />
        ))}
      </ul>
      {question ? (
        <div class="settle">
          <p class="settle-head">
            {confirmed.length === 0 ? "This question resolves it." : "Then look at this one again."}{" "}
            Answer as you see it now.
          </p>
          <h2>{question.prompt}</h2>
          <Question key={question.number} question={question} chosen={null} marked={marked} choose={press} />
        </div>
      ) : (
        <p class="settle-head">
          You confirmed all of them, so the latest one stays aside. You can change any of them above, or
          leave it at that.
        </p>
      )}
    </section>
  );
}

interface ClashingAnswerProps {
  answer: AnswerView;
  steps: ContradictionStep[];
  aside: boolean;
  confirmed: boolean;
  edit: () => void;
}

/** One of the contradicting answers, link by link. */
function ClashingAnswer({ answer, steps, aside, confirmed, edit }: ClashingAnswerProps) {
  return (
    <li class={aside ? "answer clash-card aside" : "answer clash-card"}>
      {steps.map((step) => (
        <div key={`${step.a.id} ${step.b.id}`} class="step">
          <Item item={step.a} size="small" />
          <span class={step.same ? "sign same" : "sign different"}>
            <span aria-hidden="true">{step.same ? "=" : "≠"}</span>
            <span class="sign-label">{step.same ? "same kind" : "different"}</span>
          </span>
          <Item item={step.b} size="small" />
        </div>
      ))}
      <div class="clash-foot">
        <span class="muted">
          Answer {answer.number}: {answer.label}
          {aside && ", set aside"}
          {confirmed && ", confirmed"}
        </span>
        <button type="button" class="quiet" onClick={edit} aria-label={`Change answer ${answer.number}`}>
          Change
        </button>
      </div>
    </li>
  );
}
