/** Every answer in force, latest first; each can be changed or taken away. */

import { useEffect, useState } from "preact/hooks";
import { Fault, type Answer, type AnswerList } from "../api";
import type { Desk } from "../desk";
import { AnswerItems } from "../parts/answer-items";
import { EditAnswer } from "../parts/edit";
import { Link } from "../parts/link";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { useClashes } from "./conflicts";

const PAGE = 25;

function Row({ answer, edit, aside }: { answer: Answer; edit: () => void; aside: boolean }) {
  return (
    <li class={aside ? "answer aside" : "answer"}>
      <span class="quiet-text number">{answer.number}</span>
      <AnswerItems answer={answer} />
      <span class="answer-label">
        <strong>{answer.label}</strong>
        <span class="quiet-text">
          {answer.question.prompt}
          {answer.seconds !== null && ` · ${answer.seconds.toFixed(1)} s`}
          {answer.by !== "me" && ` · ${answer.by}`}
        </span>
        {aside && <Link to="/conflicts">kept aside: it contradicts others</Link>}
      </span>
      <button type="button" onClick={edit} aria-label={`Change answer ${answer.number}`}>
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
  const { clashes, odd } = useClashes(desk);

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

  const aside = new Set(clashes?.map((clash) => clash.answer.number));
  return (
    <main class="answers">
      <h1>Answers</h1>
      {list && (
        <p class="why">
          {count(list.total, "answer")}, latest first.{" "}
          {odd.length > 0 && (
            <Link to="/conflicts">{count(odd.length, "answer is", "answers are")} worth a look</Link>
          )}
        </p>
      )}
      {fault && (
        <Notice tone="warning" act={{ label: "Try again", go: load }}>
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
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
