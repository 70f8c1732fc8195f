/** Any question: its items side by side, one button per choice, exemplars above their button. */

import type { ChoiceView } from "../../api/schema";
import { Item } from "../item";
import { ChoiceButton } from "./choice-button";
import { Exemplars } from "./exemplars";
import type { QuestionProps } from "./question";
import { NONE } from "./use-marks";

/** The text on a choice; the one that submits says what is marked. */
function labelOf(choice: ChoiceView, many: boolean, marked: number): string {
  if (!many || choice.value !== NONE || marked === 0) return choice.label;
  return marked === 1 ? "Only the marked one" : `The ${marked} marked ones`;
}

export function GenericQuestion({ question, chosen, marked, choose }: QuestionProps) {
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
            marked={marked.has(choice.value)}
            label={labelOf(choice, question.many, marked.size)}
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
