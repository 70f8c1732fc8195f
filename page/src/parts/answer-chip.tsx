/** An answer, small: what it was about, and what was chosen. */

import type { Answer } from "../api";
import { ItemView } from "../items/item";
import { stoodFor } from "../picks";

export function AnswerChip({ answer, open }: { answer: Answer; open: () => void }) {
  const central = answer.question.parts.flatMap((part) => part.slice(0, 1));
  const shown = [...central, ...stoodFor(answer)].slice(0, 2);
  return (
    <button
      type="button"
      class="chip"
      onClick={open}
      aria-label={`Answer ${answer.number}: ${answer.label}. Change it`}
    >
      <span class="chip-items">
        {shown.map((item) => (
          <ItemView key={item.id} item={item} size="small" />
        ))}
      </span>
      <span>{answer.label}</span>
    </button>
  );
}
