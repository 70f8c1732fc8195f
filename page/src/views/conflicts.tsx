/** Answers that cannot all be true, with the question that settles it; and answers worth a look. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { type Answer, Fault } from "../api";
import type { Desk } from "../desk";
import { EditAnswer } from "../parts/edit";
import { Link } from "../parts/link";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { type Clash, type Odd, ProgressApi } from "../progress-api";
import "../style/conflicts.css";
import { OddAnswers } from "./odd-answers";
import { Settle } from "./settle";

/** What was done to settle a contradiction, with the way back. */
export interface Settled {
  words: string;
  back: () => void;
}

/** Contradictions and surprising answers, read again after each change. */
export function useClashes(desk: Desk): { clashes: Clash[] | null; odd: Odd[]; fault: Fault | null } {
  const api = useMemo(() => new ProgressApi(desk.api), [desk.api]);
  const [clashes, setClashes] = useState<Clash[] | null>(null);
  const [odd, setOdd] = useState<Odd[]>([]);
  const [fault, setFault] = useState<Fault | null>(null);
  useEffect(() => {
    let wanted = true;
    Promise.all([api.clashes(), api.odd()]).then(
      ([found, doubtful]) => {
        if (!wanted) return;
        setClashes(found);
        setOdd(doubtful);
        setFault(null);
      },
      (problem: Fault) => wanted && setFault(problem),
    );
    return () => void (wanted = false);
  }, [api, desk.recent, desk.now?.progress.snapshot]);
  return { clashes, odd, fault };
}

export function Conflicts({ desk }: { desk: Desk }) {
  const { clashes, odd, fault } = useClashes(desk);
  const [editing, setEditing] = useState<Answer | null>(null);
  const [settled, setSettled] = useState<Settled | null>(null);
  const first = clashes?.[0];
  return (
    <main class="conflicts">
      <h1>Contradictions</h1>
      {fault && (
        <Notice tone="warning">
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      {settled && (
        <Notice
          tone="info"
          act={{
            label: "Undo",
            go: () => {
              settled.back();
              setSettled(null);
            },
          }}
        >
          {settled.words}
        </Notice>
      )}
      {clashes !== null && !first && (
        <p class="why">
          No answers contradict each other. <Link to="/">Back to the questions</Link>
        </p>
      )}
      {first && (
        <Settle
          key={signature(first)}
          clash={first}
          desk={desk}
          edit={setEditing}
          settled={setSettled}
          hushed={editing !== null}
        />
      )}
      {clashes !== null && clashes.length > 1 && (
        <p class="quiet-text">{count(clashes.length - 1, "more contradiction")} after this one.</p>
      )}
      <OddAnswers desk={desk} odd={odd} edit={setEditing} />
      {editing && <EditAnswer answer={editing} desk={desk} close={() => setEditing(null)} />}
    </main>
  );
}

/** Which contradiction this is: other answers, or other choices, make another one. */
function signature(clash: Clash): string {
  return [clash.answer, ...clash.clash].map((one) => `${one.number}=${one.choice}`).join(";");
}
