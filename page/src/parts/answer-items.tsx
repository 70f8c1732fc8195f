/** What an answer was about, small: the items of the question, and what was chosen. */

import type { Answer } from "../api";
import { ItemView } from "../items/item";
import { stoodFor } from "../picks";

export function AnswerItems({ answer }: { answer: Answer }) {
  const chosen = stoodFor(answer);
  return (
    <span class="answer-items">
      {answer.question.parts.map((part) => (
        <span key={part[0]?.id} class="answer-part">
          {part.slice(0, 3).map((item) => (
            <ItemView key={item.id} item={item} size="small" />
          ))}
        </span>
      ))}
      {chosen.length > 0 && (
        <>
          {!answer.question.many && (
            <span class="arrow" aria-hidden="true">
              →
            </span>
          )}
          <span class="answer-part">
            {chosen.slice(0, answer.question.many ? 6 : 3).map((item) => (
              <ItemView key={item.id} item={item} size="small" />
            ))}
          </span>
        </>
      )}
    </span>
  );
}
