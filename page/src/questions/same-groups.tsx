/** "Are these two groups one kind?": the two groups side by side, each by its exemplars. */

import { ChoiceButton } from "./button";
import type { Rendering } from "./registry";
import { Together } from "./together";

const NAMES = ["One group", "The other group"];

export function SameGroups({ question, chosen, choose }: Rendering) {
  return (
    <div class="question same-groups">
      <div class="two-groups">
        {question.parts.map((part, k) => (
          <section key={part[0]?.id} class="one-group" aria-label={NAMES[k]}>
            <Together items={part} />
          </section>
        ))}
      </div>
      <div class="choices">
        {question.choices.map((choice) => (
          <ChoiceButton key={choice.value} choice={choice} chosen={chosen} choose={choose} />
        ))}
      </div>
    </div>
  );
}
