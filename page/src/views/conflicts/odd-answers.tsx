/** Answers that all others speak against: probably mistakes, to be reviewed or confirmed. */

import { useState } from "preact/hooks";
import type { AnswerView, OddAnswerView } from "../../api/schema";
import { AnswerItems } from "../../components/answer-items";
import { currentPile } from "../../router";
import type { Workspace } from "../../workspace/use-workspace";

interface Props {
  workspace: Workspace;
  odd: OddAnswerView[];
  edit: (answer: AnswerView) => void;
}

/** Identifies a confirmed answer; with another choice it is another answer. */
function identify(answer: AnswerView): string {
  return `${answer.number}=${answer.choice}`;
}

/** Answers that the person has confirmed, stored in this browser. */
export function readConfirmed(name: string, storage: Storage = localStorage): string[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(`samekind:right:${name}`) ?? "[]");
    return Array.isArray(stored) ? stored.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

export function confirmAnswer(name: string, answer: AnswerView, storage: Storage = localStorage): void {
  const all = [...new Set([...readConfirmed(name, storage), identify(answer)])];
  try {
    storage.setItem(`samekind:right:${name}`, JSON.stringify(all));
  } catch {
    // Without storage the answer is listed again next time.
  }
}

export function OddAnswers({ workspace, odd, edit }: Props) {
  const name = `${currentPile() ?? ""}/${workspace.session?.session ?? ""}`;
  // Read at each render: the name is not known at the first one.
  const [, render] = useState(0);
  const confirmed = readConfirmed(name);
  const open = odd.filter(({ answer }) => !confirmed.includes(identify(answer)));
  if (open.length === 0) return null;
  return (
    <section class="odd-answers" aria-labelledby="odd-head">
      <h2 id="odd-head">Possible mistakes</h2>
      <p class="muted">
        These answers contradict nothing, but the others suggest something else. Nothing was changed.
      </p>
      <ul class="answer-list">
        {open.map(({ answer, words }) => (
          <li key={answer.number} class="answer odd-answer">
            <AnswerItems answer={answer} />
            <span>{words}</span>
            <span class="odd-actions">
              <button type="button" onClick={() => edit(answer)}>
                Review
              </button>
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  confirmAnswer(name, answer);
                  render((n) => n + 1);
                }}
                aria-label={`Answer ${answer.number} is correct`}
              >
                It’s correct
              </button>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
