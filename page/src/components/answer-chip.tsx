/** One answer, small: what it was about, and what was chosen. */

import type { AnswerView } from "../api/schema";
import { Item } from "./item";
import { chosenItems } from "./question/use-marks";
import "./answer-chip.css";

const MAX_ITEMS = 2;

export function AnswerChip({ answer, open }: { answer: AnswerView; open: () => void }) {
  const central = answer.question.parts.flatMap((part) => part.slice(0, 1));
  const items = [...central, ...chosenItems(answer)].slice(0, MAX_ITEMS);
  return (
    <button
      type="button"
      class="chip"
      onClick={open}
      aria-label={`Answer ${answer.number}: ${answer.label}. Change`}
    >
      <span class="chip-items">
        {items.map((item) => (
          <Item key={item.id} item={item} size="small" />
        ))}
      </span>
      <span>{answer.label}</span>
    </button>
  );
}
