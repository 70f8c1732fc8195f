/** Any question: its items side by side, one button per choice, exemplars above their button. */

import { ItemView } from "../items/item";
import { ChoiceButton, sending } from "./button";
import type { Rendering } from "./registry";
import { Together } from "./together";

export function Generic({ question, chosen, picked, choose }: Rendering) {
  const size = question.items.length <= 2 ? "large" : "medium";
  return (
    <div class="question">
      <div class="items">
        {question.parts.map((part) =>
          part.length > 1 ? (
            <Together key={part[0]?.id} items={part} />
          ) : (
            part.map((item) => <ItemView key={item.id} item={item} size={size} />)
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
            marked={picked.has(choice.value)}
            label={sending(question, choice, picked)}
          >
            {choice.exemplars.map((item) => (
              <ItemView key={item.id} item={item} size="small" />
            ))}
          </ChoiceButton>
        ))}
      </div>
    </div>
  );
}
