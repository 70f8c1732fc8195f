/** "Are these two groups the same kind?": the groups side by side, each by its exemplars. */

import { ChoiceButton } from "./choice-button";
import { Exemplars } from "./exemplars";
import type { QuestionProps } from "./question";
import "./same-groups.css";

const LABELS = ["First group", "Second group"];

export function SameGroups({ question, chosen, choose }: QuestionProps) {
  return (
    <div class="question same-groups">
      <div class="two-groups">
        {question.parts.map((part, k) => (
          <section key={part[0]?.id} class="one-group" aria-label={LABELS[k]}>
            <Exemplars items={part} />
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
