/** One question per screen. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { AnswerView } from "../../api/schema";
import { AnswerChip } from "../../components/answer-chip";
import { EditAnswer } from "../../components/edit-answer";
import { Keys } from "../../components/keys";
import { Link } from "../../components/link";
import { Question } from "../../components/question/question";
import { useMarks } from "../../components/question/use-marks";
import { hasGroupList } from "../../components/question/which-group";
import { FIND_GROUP, LOOK_CLOSER, useShortcuts } from "../../keyboard/bindings";
import { commandFor, isHandledByFocus, shortcuts, useKeys } from "../../keyboard/keys";
import { currentRoute, navigate } from "../../router";
import type { Workspace } from "../../workspace/use-workspace";
import { Closeup } from "./closeup";
import { Help } from "./help";
import { ShortcutSettings } from "./shortcut-settings";
import { Swipe } from "./swipe";
import "./questions.css";

/** After every so many answers a look at the groups is suggested. */
const SUGGEST_GROUPS_EVERY = 20;

/** Go to the field above the list of groups, or open the list where a button stands for it. */
function findGroup(): void {
  const found = document.querySelector<HTMLElement>("main [data-find-group]");
  found?.focus();
  if (found instanceof HTMLButtonElement) found.click();
}

/** The choice that has the focus. */
function focusedChoice(): string | null {
  return document.activeElement?.closest<HTMLElement>("[data-choice]")?.dataset.choice ?? null;
}

export function QuestionsPage({ workspace }: { workspace: Workspace }) {
  const [dialog, setDialog] = useState<"help" | "shortcuts" | "closeup" | null>(null);
  const [editing, setEditing] = useState<AnswerView | null>(null);
  const page = useRef<HTMLElement>(null);
  const prompt = useRef<HTMLHeadingElement>(null);
  const keyboard = useShortcuts();
  const { session, sending, recent } = workspace;
  // Not before the acts are known, or the first key presses would be lost: "?", say.
  const now = session && workspace.now;
  const question = now?.question ? keyboard.bindQuestion(now.question) : null;
  const own = hasGroupList(question) ? [FIND_GROUP, LOOK_CLOSER] : [LOOK_CLOSER];
  const acts = keyboard.bindActs([...(session?.acts ?? []), ...own]);
  const sent = question && sending?.number === question.number ? sending.choice : null;
  const { marked, press } = useMarks(question, workspace.answer, { sent });
  const answers = now?.progress.answers ?? 0;

  const perform = (name: string) => {
    if (name === "back") workspace.back();
    else if (name === "skip") workspace.skip();
    else if (name === "help") setDialog("help");
    else if (name === "find") findGroup();
    else if (name === "look" && question) setDialog("closeup");
    else if (name === "finish") navigate({ path: "/finish", session: currentRoute().session });
  };
  const isDisabled = (name: string) =>
    (name === "back" && answers === 0) || (["skip", "look"].includes(name) && !question);

  useKeys((event) => {
    // The element, not the state: a key right after Escape is for the question.
    if (isHandledByFocus(event.target, event.key) || document.querySelector("dialog[open]")) return;
    const command = commandFor(event, question, acts);
    if (command === null) return;
    event.preventDefault();
    if ("choose" in command) press(command.choose);
    else perform(command.act);
  });

  // With the focus on a button that was clicked, space would press it again instead of "Not sure".
  // Where tiles are marked, space is for the one under the cursor.
  useLayoutEffect(() => {
    const tile = page.current?.querySelector<HTMLElement>("[data-initial-focus]");
    (tile ?? prompt.current)?.focus({ preventScroll: true });
  }, [question?.number]);

  return (
    <main ref={page} class="questions">
      <div class="prompt">
        <h1 ref={prompt} tabIndex={-1} aria-live="polite">
          {question?.prompt ?? (now ? "No question right now" : "…")}
        </h1>
        <p class="lead">{question ? question.why : now?.message}</p>
      </div>
      {question ? (
        <Swipe question={question} marked={marked.size} choose={press}>
          <Question
            key={question.number}
            question={question}
            chosen={sent}
            marked={marked}
            choose={press}
            rename={workspace.nameGroup}
            undo={workspace.back}
          />
        </Swipe>
      ) : (
        <div class="question none">
          {now && !now.progress.refitting && (
            <Link to="/groups" className="button">
              See the groups
            </Link>
          )}
        </div>
      )}
      <div class="actions">
        {acts.map((act) => (
          <button
            key={act.name}
            type="button"
            class={`quiet action-${act.name}`}
            disabled={isDisabled(act.name)}
            aria-keyshortcuts={shortcuts(act.keys)}
            onClick={() => perform(act.name)}
            title={act.label}
          >
            <Keys keys={act.keys.slice(0, 1)} /> {act.label.split(":")[0]}
          </button>
        ))}
      </div>
      {recent.length > 0 && (
        <section class="recent-answers" aria-label="Latest answers">
          {answers > 0 && answers % SUGGEST_GROUPS_EVERY === 0 && (
            <Link to="/groups" className="button suggestion">
              <strong>{answers} answers</strong>
              <span>See the groups so far</span>
            </Link>
          )}
          {recent.map((answer) => (
            <AnswerChip key={answer.number} answer={answer} open={() => setEditing(answer)} />
          ))}
        </section>
      )}
      {dialog === "help" && (
        <Help
          question={question}
          acts={acts}
          close={() => setDialog(null)}
          customise={() => setDialog("shortcuts")}
        />
      )}
      {dialog === "shortcuts" && <ShortcutSettings close={() => setDialog(null)} />}
      {dialog === "closeup" && question && <Closeup question={question} first={focusedChoice()} close={() => setDialog(null)} />}
      {editing && <EditAnswer answer={editing} workspace={workspace} close={() => setEditing(null)} />}
    </main>
  );
}
