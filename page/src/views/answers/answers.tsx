/** All answers, latest first. Each can be changed or deleted. */

import { useState } from "preact/hooks";
import type { AnswerView } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { AnswerItems } from "../../components/answer-items";
import { EditAnswer } from "../../components/edit-answer";
import { ErrorNotice } from "../../components/error-notice";
import { Link } from "../../components/link";
import { count } from "../../format";
import type { Workspace } from "../../workspace/use-workspace";
import { useConflicts } from "../conflicts/use-conflicts";
import "./answers.css";

const PAGE_SIZE = 25;

interface RowProps {
  answer: AnswerView;
  /** Not for answers of other people. */
  edit: (() => void) | null;
  aside: boolean;
  restore: () => void;
}

function Row({ answer, edit, aside, restore }: RowProps) {
  return (
    <li class={aside || answer.aside ? "answer aside" : "answer"}>
      <span class="muted number">{answer.number}</span>
      <AnswerItems answer={answer} />
      <span class="answer-label">
        <strong>{answer.label}</strong>
        <span class="muted">
          {answer.question.prompt}
          {answer.seconds !== null && ` · ${answer.seconds.toFixed(1)} s`}
          {answer.by !== "me" && ` · ${answer.by}`}
        </span>
        {aside && <Link to="/conflicts">Set aside: it contradicts other answers</Link>}
        {answer.aside && <span class="aside-words">Set aside. {answer.aside}</span>}
      </span>
      {answer.aside && edit && (
        <button type="button" onClick={restore} aria-label={`Restore answer ${answer.number}`}>
          Restore
        </button>
      )}
      {edit && (
        <button type="button" onClick={edit} aria-label={`Change answer ${answer.number}`}>
          Change
        </button>
      )}
    </li>
  );
}

export function AnswersPage({ workspace }: { workspace: Workspace }) {
  const { client, recent, session } = workspace;
  const person = session?.person ?? null;
  const [mine, setMine] = useState(false);
  const [editing, setEditing] = useState<AnswerView | null>(null);
  const [pages, setPages] = useState(1);
  const list = useResource(
    async (signal) => {
      const offsets = Array.from({ length: pages }, (_, k) => k * PAGE_SIZE);
      const parts = await Promise.all(
        offsets.map((offset) => client.get("/api/answers", { query: { offset, limit: PAGE_SIZE, mine }, signal })),
      );
      return { total: parts.at(-1)?.total ?? 0, answers: parts.flatMap((part) => part.answers) };
    },
    [client],
    { refreshOn: [recent, pages, mine] },
  );
  const conflicts = useConflicts(workspace);
  const odd = conflicts.data?.odd ?? [];
  const aside = new Set(conflicts.data?.contradictions.map(({ answer }) => answer.number));
  const { total = 0, answers = [] } = list.data ?? {};
  return (
    <main class="answers">
      <h1>Answers</h1>
      {list.data && (
        <p class="lead">
          {count(total, "answer")}, latest first.{" "}
          {odd.length > 0 && (
            <Link to="/conflicts">{count(odd.length, "answer is", "answers are")} worth a second look</Link>
          )}
        </p>
      )}
      {person !== null && !session?.hidden && (
        <label class="only-mine">
          <input type="checkbox" checked={mine} onChange={() => setMine(!mine)} /> Only mine
        </label>
      )}
      <ErrorNotice error={list.error} retry={list.reload} />
      <ul class="answer-list">
        {answers.map((answer) => (
          <Row
            key={`${answer.number} ${answer.by}`}
            answer={answer}
            edit={person === null || person === answer.by ? () => setEditing(answer) : null}
            aside={aside.has(answer.number)}
            restore={() => void workspace.restore(answer.number)}
          />
        ))}
      </ul>
      {answers.length < total && (
        <button type="button" onClick={() => setPages(pages + 1)}>
          Show more ({total - answers.length} left)
        </button>
      )}
      {editing && <EditAnswer answer={editing} workspace={workspace} close={() => setEditing(null)} />}
    </main>
  );
}
