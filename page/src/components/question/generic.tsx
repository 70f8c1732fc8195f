/** Any question: its items side by side, one button per choice, exemplars above their button. */

import { Item } from "../item";
import { ChoiceButton } from "./choice-button";
import { Exemplars } from "./exemplars";
import type { QuestionProps } from "./question";

export function GenericQuestion({ question, chosen, choose }: QuestionProps) {
  const size = question.items.length <= 2 ? "large" : "medium";
  return (
    <div class="question">
      <div class="items">
        {question.parts.map((part) =>
          part.length > 1 ? (
            <Exemplars key={part[0]?.id} items={part} />
          ) : (
            part.map((item) => <Item key={item.id} item={item} size={size} />)
          ),
        )}
      </div>
      <div class="choices">
        {question.choices.map((choice) => (
          <ChoiceButton
            key={choice.value}
            choice={choice}
            chosen={chosen}
            choose={choose}
          >
            {choice.exemplars.map((item) => (
              <Item key={item.id} item={item} size="small" />
            ))}
          </ChoiceButton>
        ))}
      </div>
    </div>
  );
}
