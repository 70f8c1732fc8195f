/** Any question: its items side by side, one button per choice, exemplars above their button. */

import { ItemView } from "../items/item";
import { ChoiceButton } from "./button";
import type { Rendering } from "./registry";

export function Generic({ question, chosen, choose }: Rendering) {
  const size = question.items.length <= 2 ? "large" : "medium";
  return (
    <div class="question">
      <div class="items">
        {question.items.map((item) => (
          <ItemView key={item.id} item={item} size={size} />
        ))}
      </div>
      <div class="choices">
        {question.choices.map((choice) => (
          <ChoiceButton key={choice.value} choice={choice} chosen={chosen} choose={choose}>
            {choice.exemplars.map((item) => (
              <ItemView key={item.id} item={item} size="small" />
            ))}
          </ChoiceButton>
        ))}
      </div>
    </div>
  );
}
