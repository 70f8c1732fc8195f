/** Look closer: the items of a question one after the other, as large as the screen. */

import { useState } from "preact/hooks";
import type { QuestionView } from "../../api/schema";
import { Dialog } from "../../components/dialog";
import { Item } from "../../components/item";
import { useKeys } from "../../keyboard/keys";
import { itemsOf } from "../../workspace/preload";
import "./closeup.css";

interface Props {
  question: QuestionView;
  /** The choice whose item comes first. */
  first: string | null;
  close: () => void;
}

export function Closeup({ question, first, close }: Props) {
  const items = itemsOf(question);
  const [index, setIndex] = useState(() => {
    const shown = question.choices.find(({ value }) => value === first)?.exemplars[0];
    return Math.max(0, items.findIndex(({ id }) => id === shown?.id));
  });
  const step = (by: number) => setIndex((index + by + items.length) % items.length);
  useKeys((event) => {
    if (event.key === "ArrowRight" || event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowLeft" || event.key === "ArrowUp") step(-1);
    else if (event.key.toLowerCase() === "l") close();
    else return;
    event.preventDefault();
  });
  const item = items[index];
  return (
    <Dialog title={`Look closer: ${index + 1} of ${items.length}`} close={close} wide>
      <div class="closeup">
        <button type="button" onClick={() => step(-1)} aria-label="Previous item">
          ←
        </button>
        {item && <Item key={item.id} item={item} size="large" />}
        <button type="button" onClick={() => step(1)} aria-label="Next item">
          →
        </button>
      </div>
      <p class="muted closeup-name" aria-live="polite">
        {item?.id}
      </p>
    </Dialog>
  );
}
