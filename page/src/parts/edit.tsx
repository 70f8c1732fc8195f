/** An earlier answer, opened to be changed or taken away. */

import type { Answer } from "../api";
import type { Desk } from "../desk";
import { useBindings } from "../bindings";
import { meaning, onButton, useKeys } from "../keys";
import { usePicks } from "../picks";
import { QuestionView } from "../questions/registry";
import { Dialog } from "./dialog";

interface Props {
  answer: Answer;
  desk: Desk;
  close: () => void;
}

export function EditAnswer({ answer, desk, close }: Props) {
  const change = (choice: string) => {
    if (choice !== answer.choice) void desk.change(answer.number, choice);
    close();
  };
  const question = useBindings().bound(answer.question);
  const { picked, press } = usePicks(question, change, { start: answer.choice });
  useKeys((event) => {
    const meant = meaning(event, question, []);
    if (event.key === " " || onButton(event.target, event.key)) return;
    if (meant && "choose" in meant) {
      event.preventDefault();
      press(meant.choose);
    }
  });
  return (
    <Dialog title={`Answer ${answer.number}: ${answer.question.prompt}`} close={close}>
      <div class="edit">
        <QuestionView
          question={question}
          chosen={answer.choice}
          picked={picked}
          choose={press}
        />
        <button
          type="button"
          class="quiet"
          onClick={() => {
            void desk.takeAway(answer.number);
            close();
          }}
        >
          Take this answer away and ask again
        </button>
      </div>
    </Dialog>
  );
}
