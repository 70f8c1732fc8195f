/** What an answer was about: the items of the question, and those that were chosen. */

import type { AnswerView } from "../api/schema";
import { Item } from "./item";
import { chosenItems } from "./question/use-marks";
import "./answer-items.css";

const MAX_ITEMS_PER_PART = 3;
const MAX_MARKED_ITEMS = 6;

export function AnswerItems({ answer }: { answer: AnswerView }) {
  const { many, parts } = answer.question;
  const chosen = chosenItems(answer);
  return (
    <span class="answer-items">
      {parts.map((part) => (
        <span key={part[0]?.id} class="answer-part">
          {part.slice(0, MAX_ITEMS_PER_PART).map((item) => (
            <Item key={item.id} item={item} size="small" />
          ))}
        </span>
      ))}
      {chosen.length > 0 && (
        <>
          {!many && <span aria-hidden="true">→</span>}
          <span class="answer-part">
            {chosen.slice(0, many ? MAX_MARKED_ITEMS : MAX_ITEMS_PER_PART).map((item) => (
              <Item key={item.id} item={item} size="small" />
            ))}
          </span>
        </>
      )}
    </span>
  );
}
