/** Answers that cannot all be true, with the question that resolves it, and answers worth a second look. */

import { useState } from "preact/hooks";
import type { AnswerView, ContradictionView } from "../../api/schema";
import { EditAnswer } from "../../components/edit-answer";
import { ErrorNotice } from "../../components/error-notice";
import { Link } from "../../components/link";
import { Notice } from "../../components/notice";
import { count } from "../../format";
import type { Workspace } from "../../workspace/use-workspace";
import { OddAnswers } from "./odd-answers";
import { type Resolution, Settle } from "./settle";
import { useConflicts } from "./use-conflicts";
import "./conflicts.css";

export function ConflictsPage({ workspace }: { workspace: Workspace }) {
  const { data, error, reload } = useConflicts(workspace);
  const [editing, setEditing] = useState<AnswerView | null>(null);
  const [resolution, setResolution] = useState<Resolution | null>(null);
  const contradictions = data?.contradictions ?? [];
  const first = contradictions[0];
  const undo = () => {
    resolution?.undo();
    setResolution(null);
  };
  return (
    <main class="conflicts">
      <h1>Contradictions</h1>
      <ErrorNotice error={error} retry={reload} />
      {resolution && (
        <Notice tone="info" action={{ label: "Undo", run: undo }}>
          {resolution.message}
        </Notice>
      )}
      {data && !first && (
        <p class="lead">
          No answers contradict each other. <Link to="/">Back to the questions</Link>
        </p>
      )}
      {first && (
        <Settle
          key={identify(first)}
          contradiction={first}
          workspace={workspace}
          edit={setEditing}
          resolved={setResolution}
          muted={editing !== null}
        />
      )}
      {contradictions.length > 1 && (
        <p class="muted">{count(contradictions.length - 1, "more contradiction")} after this one.</p>
      )}
      <OddAnswers workspace={workspace} odd={data?.odd ?? []} edit={setEditing} />
      {editing && <EditAnswer answer={editing} workspace={workspace} close={() => setEditing(null)} />}
    </main>
  );
}

/** Identifies a contradiction: other answers, or other choices, make another one. */
function identify({ answer, clash }: ContradictionView): string {
  return [answer, ...clash].map(({ number, choice }) => `${number}=${choice}`).join(";");
}
