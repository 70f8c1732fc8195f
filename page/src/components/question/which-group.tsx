/** "Which group does this belong to?": the item, and each group as one large button beside it. */

import { Item } from "../item";
import { useSize } from "../use-size";
import { ChoiceButton } from "./choice-button";
import { arrange, type Area } from "./layout";
import type { QuestionProps } from "./question";
import "./which-group.css";

/** Below this width the number of a group stands beside its pictures instead of below them. */
const NARROW_WIDTH = 500;
/** What a group button needs around its pictures, and the gaps: the numbers of which-group.css. */
const WIDE = { around: { width: 18, height: 56 }, groupGap: 12, itemGap: 6 };
const NARROW = { around: { width: 52, height: 14 }, groupGap: 6, itemGap: 4 };

export function WhichGroup({ question, chosen, choose }: QuestionProps) {
  const groups = question.choices.filter((choice) => choice.exemplars.length > 0);
  const others = question.choices.filter((choice) => choice.exemplars.length === 0);
  const [box, size] = useSize<HTMLDivElement>();
  const narrow = size !== null && size.width < NARROW_WIDTH;
  const exemplars = Math.max(1, ...groups.map((choice) => choice.exemplars.length));
  const area: Area | null = size && { ...size, ...(narrow ? NARROW : WIDE) };
  const layout = area && area.height > 0 ? arrange(groups.length, exemplars, area) : null;
  const style = {
    "--n": groups.length,
    "--columns": layout?.columns ?? groups.length,
    "--across": layout?.across ?? 2,
    "--cell": `${layout?.cell ?? 60}px`,
  };
  const classes = ["group-choices", narrow && "narrow", layout?.central && "central"];
  return (
    <div class="question which-group">
      <div class="subject">
        {question.items.map((item) => (
          <Item key={item.id} item={item} size="large" />
        ))}
      </div>
      <div ref={box} class={classes.filter(Boolean).join(" ")} style={style}>
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
                <Item key={item.id} item={item} size="small" />
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
