/** "Which of these do not belong?": the group, and beside it the items to mark. */

import type { ChoiceView } from "../../api/schema";
import { shortcuts } from "../../keyboard/keys";
import { Item } from "../item";
import { Keys } from "../keys";
import { type Size, useSize } from "../use-size";
import { ChoiceButton } from "./choice-button";
import { Exemplars } from "./exemplars";
import type { QuestionProps } from "./question";
import { isNumber } from "./use-marks";
import "./odd-ones.css";

const NARROW_WIDTH = 500;
const MAX_CELL = 260;
/** The gap between items and the space for the key below each: the numbers of odd-ones.css. */
const WIDE = { gap: 12, below: 28 };
const NARROW = { gap: 8, below: 0 };

function labelOf(choice: ChoiceView, marked: number): string {
  if (choice.value === "unsure" || marked === 0) return choice.label;
  return marked === 1 ? "1 does not belong" : `${marked} do not belong`;
}

/** The number of columns that makes the pictures largest; a guess before the size is known. */
export function columnsFor(n: number, size: Size | null): number {
  if (size === null || size.height === 0) return n <= 4 ? n : Math.ceil(n / 2);
  const { gap, below } = size.width < NARROW_WIDTH ? NARROW : WIDE;
  const cell = (columns: number) => {
    const rows = Math.ceil(n / columns);
    const [width, height] = [size.width - (columns - 1) * gap, size.height - (rows - 1) * gap];
    return Math.min(width / columns, height / rows - below, MAX_CELL);
  };
  const all = Array.from({ length: n }, (_, k) => k + 1);
  return all.reduce((best, columns) => (cell(columns) > cell(best) ? columns : best), 1);
}

export function OddOnes({ question, chosen, marked, choose }: QuestionProps) {
  const shown = question.choices.filter((choice) => isNumber(choice.value));
  const others = question.choices.filter((choice) => !isNumber(choice.value));
  const [box, size] = useSize<HTMLDivElement>();
  const columns = columnsFor(shown.length, size);
  const style = { "--best-columns": columns, "--best-rows": Math.ceil(shown.length / columns) };
  return (
    <div class="question odd-ones">
      <section class="belonging" aria-label="The group">
        <h2>These belong together</h2>
        {question.parts.map((part) => (
          <Exemplars key={part[0]?.id} items={part} />
        ))}
      </section>
      <section class="candidates" role="group" aria-label="Mark the ones that do not belong">
        <h2>Mark the ones that do not belong with them</h2>
        <div ref={box} class="marks" style={style}>
          <div class="mark-cells">
            {shown.map((choice) => (
              <Mark
                key={choice.value}
                choice={choice}
                marked={marked.has(choice.value)}
                toggle={() => choose(choice.value)}
              />
            ))}
          </div>
        </div>
      </section>
      <div class="choices">
        {others.map((choice) => (
          <ChoiceButton
            key={choice.value}
            choice={choice}
            chosen={chosen}
            choose={choose}
            label={labelOf(choice, marked.size)}
          />
        ))}
      </div>
    </div>
  );
}

interface MarkProps {
  choice: ChoiceView;
  marked: boolean;
  toggle: () => void;
}

function Mark({ choice, marked, toggle }: MarkProps) {
  const name = choice.exemplars.map((item) => item.id).join(", ");
  return (
    <button
      type="button"
      class="mark"
      role="checkbox"
      aria-checked={marked}
      aria-label={`${choice.value}: ${name} does not belong`}
      aria-keyshortcuts={shortcuts(choice.keys)}
      data-choice={choice.value}
      onClick={toggle}
    >
      {choice.exemplars.map((item) => (
        <Item key={item.id} item={item} size="small" />
      ))}
      <span class="mark-below" aria-hidden="true">
        <Keys keys={choice.keys} />
        {marked && "odd one"}
      </span>
      {marked && (
        <span class="mark-sign" aria-hidden="true">
          ✕
        </span>
      )}
    </button>
  );
}
