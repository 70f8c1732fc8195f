/** "Which of these groups?": the item, and beside it each group as one large button. */

import { ItemView } from "../items/item";
import { ChoiceButton } from "./button";
import type { Rendering } from "./registry";

export function WhichGroup({ question, chosen, choose }: Rendering) {
  const groups = question.choices.filter((choice) => choice.exemplars.length > 0);
  const others = question.choices.filter((choice) => choice.exemplars.length === 0);
  return (
    <div class="question which-group">
      <div class="subject">
        {question.items.map((item) => (
          <ItemView key={item.id} item={item} size="large" />
        ))}
      </div>
      <div class="groups-to-choose" style={{ "--n": groups.length }}>
        {groups.map((choice) => (
          <ChoiceButton
            key={choice.value}
            choice={choice}
            chosen={chosen}
            choose={choose}
            className="group-choice"
          >
            <span class="exemplars">
              {choice.exemplars.map((item) => (
                <ItemView key={item.id} item={item} size="small" />
              ))}
            </span>
          </ChoiceButton>
        ))}
      </div>
      <div class="choices">
        {others.map((choice) => (
          <ChoiceButton key={choice.value} choice={choice} chosen={chosen} choose={choose} />
        ))}
      </div>
    </div>
  );
}
