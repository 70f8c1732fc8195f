/** Groups as large buttons, each with its exemplars, as large as there is room. */

import type { ChoiceView } from "../../api/schema";
import { Item } from "../item";
import { useSize } from "../use-size";
import { ChoiceButton } from "./choice-button";
import { arrange, type Area } from "./layout";

/** Below this width the number of a group stands beside its pictures instead of below them. */
const NARROW_WIDTH = 500;
/** What a group button needs around its pictures, and the gaps: the numbers of which-group.css. */
const WIDE = { around: { width: 18, height: 56 }, groupGap: 12, itemGap: 6 };
const NARROW = { around: { width: 52, height: 14 }, groupGap: 6, itemGap: 4 };

interface Props {
  groups: readonly ChoiceView[];
  chosen: string | null;
  choose: (value: string) => void;
}

export function NearestGroups({ groups, chosen, choose }: Props) {
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
  // A single group is an answer in words, too; of several, the pictures and keys are enough.
  const captionOf = (choice: ChoiceView) => choice.name || (groups.length === 1 ? choice.label : "");
  const classes = ["group-choices", narrow && "narrow", layout?.central && "central"];
  return (
    <div ref={box} class={classes.filter(Boolean).join(" ")} style={style}>
      {groups.map((choice) => (
        <ChoiceButton
          key={choice.value}
          choice={choice}
          chosen={chosen}
          choose={choose}
          className="group-choice"
          label={choice.name || choice.label}
        >
          <span class="exemplars">
            {choice.exemplars.map((item) => (
              <Item key={item.id} item={item} size="small" />
            ))}
            {narrow && captionOf(choice) && <span class="group-caption">{captionOf(choice)}</span>}
          </span>
        </ChoiceButton>
      ))}
    </div>
  );
}
