/** "Which of these groups?": the item, and beside it each group as one large button. */

import { ItemView } from "../items/item";
import { arrange, type Frame, useSize } from "./arrange";
import { ChoiceButton } from "./button";
import type { Rendering } from "./registry";

/** Below this width the number of a group stands beside its pictures, else below them. */
const NARROW = 500;

/** The room that there is for groups; the numbers are those of the style sheet. */
function frame({ width, height }: { width: number; height: number }): Frame {
  const narrow = width < NARROW;
  const besides = narrow ? { width: 52, height: 14 } : { width: 22, height: 60 };
  return { width, height, besides, gaps: narrow ? [6, 4] : [12, 6] };
}

export function WhichGroup({ question, chosen, choose }: Rendering) {
  const groups = question.choices.filter((choice) => choice.exemplars.length > 0);
  const others = question.choices.filter((choice) => choice.exemplars.length === 0);
  const [box, size] = useSize<HTMLDivElement>();
  const most = Math.max(1, ...groups.map((choice) => choice.exemplars.length));
  const found = size && size.height > 0 ? arrange(groups.length, most, frame(size)) : null;
  const style = {
    "--n": groups.length,
    "--columns": found?.columns ?? groups.length,
    "--across": found?.across ?? 2,
    "--cell": `${found?.cell ?? 60}px`,
  };
  const narrow = size !== null && size.width < NARROW;
  const kind = `groups-to-choose${narrow ? " narrow" : ""}${found?.central ? " central" : ""}`;
  return (
    <div class="question which-group">
      <div class="subject">
        {question.items.map((item) => (
          <ItemView key={item.id} item={item} size="large" />
        ))}
      </div>
      <div ref={box} class={kind} style={style}>
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
