/** "Which of these do not belong?": the group, and beside it the items to be marked. */

import type { Choice } from "../api";
import { ItemView } from "../items/item";
import { isNumber } from "../picks";
import { useSize } from "./arrange";
import { ChoiceButton, Keys, shortcuts } from "./button";
import type { Rendering } from "./registry";
import { Together } from "./together";

function written(choice: Choice, marked: number): string {
  if (isNumber(choice.value) || choice.value === "unsure" || marked === 0) return choice.label;
  return marked === 1 ? "1 does not belong" : `${marked} do not belong`;
}

/** So many columns as make the pictures largest; before the size is known, a guess. */
export function columns(n: number, size: { width: number; height: number } | null): number {
  if (size === null || size.height === 0) return n <= 4 ? n : Math.ceil(n / 2);
  const [gap, below] = size.width < 500 ? [8, 0] : [12, 28];
  const cell = (across: number) => {
    const down = Math.ceil(n / across);
    const [wide, high] = [size.width - (across - 1) * gap, size.height - (down - 1) * gap];
    return Math.min(wide / across, high / down - below, 260);
  };
  const all = Array.from({ length: n }, (_, k) => k + 1);
  return all.reduce((best, across) => (cell(across) > cell(best) ? across : best), 1);
}

export function OddOnes({ question, chosen, picked, choose }: Rendering) {
  const shown = question.choices.filter((choice) => isNumber(choice.value));
  const others = question.choices.filter((choice) => !isNumber(choice.value));
  const [box, size] = useSize<HTMLDivElement>();
  const across = columns(shown.length, size);
  const style = { "--found": across, "--found-rows": Math.ceil(shown.length / across) };
  return (
    <div class="question odd-ones">
      <section class="belonging" aria-label="The group">
        <h2>These belong together</h2>
        {question.parts.map((part) => (
          <Together key={part[0]?.id} items={part} />
        ))}
      </section>
      <section class="doubtful" role="group" aria-label="Mark those that do not belong">
        <h2>Mark those that do not belong to them</h2>
        <div ref={box} class="marks" style={style}>
          <div class="marks-inside">
            {shown.map((choice) => (
              <Mark
                key={choice.value}
                choice={choice}
                marked={picked.has(choice.value)}
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
            label={written(choice, picked.size)}
          />
        ))}
      </div>
    </div>
  );
}

interface MarkProps {
  choice: Choice;
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
        <ItemView key={item.id} item={item} size="small" />
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
