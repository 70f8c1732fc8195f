/** One question per screen. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Answer } from "../api";
import { LOOK, useBindings } from "../bindings";
import type { Desk } from "../desk";
import { meaning, taken, useKeys } from "../keys";
import { AnswerChip } from "../parts/answer-chip";
import { EditAnswer } from "../parts/edit";
import { Help } from "../parts/help";
import { Link } from "../parts/link";
import { Look } from "../parts/look";
import { OwnKeys } from "../parts/own-keys";
import { usePicks } from "../picks";
import { Keys, shortcuts } from "../questions/button";
import { QuestionView } from "../questions/registry";
import { Swipe } from "../questions/swipe";
import { go, here } from "../router";

/** After so many answers a look at the groups is suggested. */
const LOOK_EVERY = 20;

export function Ask({ desk }: { desk: Desk }) {
  const [layer, setLayer] = useState<"help" | "keys" | "look" | null>(null);
  const [editing, setEditing] = useState<Answer | null>(null);
  const prompt = useRef<HTMLHeadingElement>(null);
  const own = useBindings();
  const open = desk.now?.question ?? null;
  const question = open && own.bound(open);
  const acts = own.acts([...(desk.about?.acts ?? []), LOOK]);
  const sent = question && desk.sending?.number === question.number ? desk.sending.choice : null;
  const { picked, press } = usePicks(question, desk.answer, { sent });

  const perform = (name: string) => {
    if (name === "back") desk.back();
    else if (name === "skip") desk.skip();
    else if (name === "help") setLayer("help");
    else if (name === "look" && question) setLayer("look");
    else if (name === "finish") go({ path: "/groups", session: here().session });
  };

  useKeys((event) => {
    if (taken(event.target, event.key) || layer || editing) return;
    const meant = meaning(event, question, acts);
    if (meant === null) return;
    event.preventDefault();
    if ("choose" in meant) press(meant.choose);
    else perform(meant.act);
  });

  // With the focus on a button that was clicked, space would press it again instead of "not sure".
  useLayoutEffect(() => prompt.current?.focus({ preventScroll: true }), [question?.number]);

  const answers = desk.now?.progress.answers ?? 0;
  return (
    <main class="ask">
      <div class="prompt">
        <h1 ref={prompt} tabIndex={-1} aria-live="polite">
          {question?.prompt ?? (desk.now ? "No question" : "…")}
        </h1>
        <p class="why">{question ? question.why : desk.now?.message}</p>
      </div>
      {question ? (
        <Swipe question={question} choose={press}>
          <QuestionView
            key={question.number}
            question={question}
            chosen={sent}
            picked={picked}
            choose={press}
          />
        </Swipe>
      ) : (
        <div class="question nothing">
          {desk.now && !desk.now.progress.refitting && (
            <Link to="/groups" className="button">
              See the groups
            </Link>
          )}
        </div>
      )}
      <div class="acts">
        {acts.map((act) => (
          <button
            key={act.name}
            type="button"
            class={`quiet act-${act.name}`}
            disabled={
              (act.name === "back" && answers === 0) ||
              (["skip", "look"].includes(act.name) && !question)
            }
            aria-keyshortcuts={shortcuts(act.keys)}
            onClick={() => perform(act.name)}
            title={act.label}
          >
            <Keys keys={act.keys.slice(0, 1)} /> {act.label.split(":")[0]}
          </button>
        ))}
      </div>
      {desk.recent.length > 0 && (
        <section class="strip" aria-label="The last answers, latest first">
          {answers > 0 && answers % LOOK_EVERY === 0 && (
            <Link to="/groups" className="button see-groups">
              <strong>{answers} answers</strong>
              <span>Have a look at the groups</span>
            </Link>
          )}
          {desk.recent.map((answer) => (
            <AnswerChip key={answer.number} answer={answer} open={() => setEditing(answer)} />
          ))}
        </section>
      )}
      {layer === "help" && (
        <Help
          question={question}
          acts={acts}
          close={() => setLayer(null)}
          ownKeys={() => setLayer("keys")}
        />
      )}
      {layer === "keys" && <OwnKeys close={() => setLayer(null)} />}
      {layer === "look" && question && <Look question={question} close={() => setLayer(null)} />}
      {editing && <EditAnswer answer={editing} desk={desk} close={() => setEditing(null)} />}
    </main>
  );
}
