/** Every answer in force, latest first; each can be changed or taken away. */

import { useEffect, useState } from "preact/hooks";
import { Fault, type Answer, type AnswerList } from "../api";
import type { Desk } from "../desk";
import { ItemView } from "../items/item";
import { EditAnswer } from "../parts/edit";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { stoodFor } from "../picks";

const PAGE = 25;

function Row({ answer, edit, aside }: { answer: Answer; edit: () => void; aside: boolean }) {
  const chosen = stoodFor(answer);
  return (
    <li class={aside ? "answer aside" : "answer"}>
      <span class="quiet-text number">{answer.number}</span>
      <span class="answer-items">
        {answer.question.parts.map((part) => (
          <span key={part[0]?.id} class="answer-part">
            {part.slice(0, 3).map((item) => (
              <ItemView key={item.id} item={item} size="small" />
            ))}
          </span>
        ))}
        {chosen.length > 0 && (
          <>
            {!answer.question.many && (
              <span class="arrow" aria-hidden="true">
                →
              </span>
            )}
            <span class="answer-part">
              {chosen.slice(0, answer.question.many ? 6 : 3).map((item) => (
                <ItemView key={item.id} item={item} size="small" />
              ))}
            </span>
          </>
        )}
      </span>
      <span class="answer-label">
        <strong>{answer.label}</strong>
        <span class="quiet-text">
          {answer.question.prompt}
          {answer.seconds !== null && ` · ${answer.seconds.toFixed(1)} s`}
        </span>
      </span>
      <button type="button" onClick={edit}>
        Change
      </button>
    </li>
  );
}

export function Answers({ desk }: { desk: Desk }) {
  const [list, setList] = useState<AnswerList | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const [editing, setEditing] = useState<Answer | null>(null);
  const [shown, setShown] = useState(PAGE);

  const load = () => {
    const pages = Array.from({ length: Math.ceil(shown / PAGE) }, (_, k) =>
      desk.api.answers(k * PAGE, PAGE),
    );
    Promise.all(pages).then(
      (parts) => {
        const last = parts.at(-1);
        if (last) setList({ ...last, answers: parts.flatMap((part) => part.answers) });
        setFault(null);
      },
      (problem: Fault) => setFault(problem),
    );
  };
  useEffect(load, [desk.api, shown, desk.recent]);

  const aside = new Set(desk.conflicts.map((conflict) => conflict.answer.number));
  return (
    <main class="answers">
      <h1>Answers</h1>
      {list && <p class="why">{count(list.total, "answer")}, latest first.</p>}
      {fault && (
        <Notice tone="warning" act={{ label: "Try again", go: load }}>
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      {desk.conflicts.map((conflict) => (
        <section key={conflict.answer.number} class="conflict">
          <p>
            <strong>These answers contradict each other.</strong> The latest one is kept aside until you
            change one of them.
          </p>
          <ul class="answer-list">
            {[conflict.answer, ...conflict.clash].map((answer) => (
              <Row
                key={answer.number}
                answer={answer}
                edit={() => setEditing(answer)}
                aside={answer === conflict.answer}
              />
            ))}
          </ul>
        </section>
      ))}
      <ul class="answer-list">
        {list?.answers.map((answer) => (
          <Row
            key={answer.number}
            answer={answer}
            edit={() => setEditing(answer)}
            aside={aside.has(answer.number)}
          />
        ))}
      </ul>
      {list && list.answers.length < list.total && (
        <button type="button" onClick={() => setShown(shown + PAGE)}>
          Show more ({list.total - list.answers.length} left)
        </button>
      )}
      {editing && <EditAnswer answer={editing} desk={desk} close={() => setEditing(null)} />}
    </main>
  );
}
