/** An earlier answer, opened to be changed or deleted. */

import type { AnswerView } from "../api/schema";
import { useShortcuts } from "../keyboard/bindings";
import { activatesFocus, commandFor, useKeys } from "../keyboard/keys";
import type { Workspace } from "../workspace/use-workspace";
import { Dialog } from "./dialog";
import { Question } from "./question/question";
import { useMarks } from "./question/use-marks";
import "./edit-answer.css";

interface Props {
  answer: AnswerView;
  workspace: Workspace;
  close: () => void;
}

export function EditAnswer({ answer, workspace, close }: Props) {
  const change = (choice: string) => {
    if (choice !== answer.choice) void workspace.change(answer.number, choice);
    close();
  };
  const question = useShortcuts().bindQuestion(answer.question);
  const { marked, press } = useMarks(question, change, { initial: answer.choice });
  useKeys((event) => {
    if (event.target instanceof HTMLInputElement) return; // the name of a group is typed
    const command = commandFor(event, question, []);
    if (event.key === " " || activatesFocus(event.target, event.key)) return;
    if (command && "choose" in command) {
      event.preventDefault();
      press(command.choose);
    }
  });
  return (
    <Dialog title={`Answer ${answer.number}: ${answer.question.prompt}`} close={close}>
      <div class="edit-answer">
        <Question question={question} chosen={answer.choice} marked={marked} choose={press} />
        <button
          type="button"
          class="quiet"
          onClick={() => {
            void workspace.remove(answer.number);
            close();
          }}
        >
          Delete this answer and ask again
        </button>
      </div>
    </Dialog>
  );
}
