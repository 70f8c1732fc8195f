/** Look closer by keyboard: the items of a question, one after the other, as large as the screen. */

import { useState } from "preact/hooks";
import type { Item, Question } from "../api";
import { ItemView } from "../items/item";
import { useKeys } from "../keys";
import { Dialog } from "./dialog";

/** Every item that a question shows, each once, those above the choices first. */
export function shownItems(question: Question): Item[] {
  const all = [...question.items, ...question.choices.flatMap((choice) => choice.exemplars)];
  return [...new Map(all.map((item) => [item.id, item])).values()];
}

export function Look({ question, close }: { question: Question; close: () => void }) {
  const items = shownItems(question);
  const [at, setAt] = useState(0);
  const step = (by: number) => setAt((at + by + items.length) % items.length);
  useKeys((event) => {
    if (event.key === "ArrowRight" || event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowLeft" || event.key === "ArrowUp") step(-1);
    else if (event.key.toLowerCase() === "l") close();
    else return;
    event.preventDefault();
  });
  const item = items[at];
  return (
    <Dialog title={`Look closer: ${at + 1} of ${items.length}`} close={close} wide>
      <div class="look">
        <button type="button" onClick={() => step(-1)} aria-label="The one before">
          ←
        </button>
        {item && <ItemView key={item.id} item={item} size="large" />}
        <button type="button" onClick={() => step(1)} aria-label="The next one">
          →
        </button>
      </div>
      <p class="quiet-text look-name" aria-live="polite">
        {item?.id}
      </p>
    </Dialog>
  );
}
