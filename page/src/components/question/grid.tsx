/** Many items at once: the group above, below it a dense grid of tiles to mark. */

import type { ChoiceView, ItemView } from "../../api/schema";
import { shortcuts } from "../../keyboard/keys";
import { Item } from "../item";
import { Keys } from "../keys";
import { useSize } from "../use-size";
import { ChoiceButton } from "./choice-button";
import { layoutOf } from "./grid-layout";
import type { QuestionProps } from "./question";
import { useCursor } from "./use-cursor";
import { useDrag } from "./use-drag";
import { isNumber, NONE, submitLabel } from "./use-marks";
import { useNearScreen } from "./use-near-screen";
import "./grid.css";

/** Tiles whose previews are loaded before it is known whether they are on the screen. */
const EAGER_TILES = 12;

export function GridQuestion({ question, chosen, marked, choose }: QuestionProps) {
  const shown = question.choices.filter((choice) => isNumber(choice.value));
  const others = question.choices.filter((choice) => !isNumber(choice.value));
  const [box, size] = useSize<HTMLDivElement>();
  const cursor = useCursor(box, ".mark");
  const startDrag = useDrag(marked, choose);
  const { columns, cell } = layoutOf(shown.length, size);
  const alike = question.marking?.belong ?? true;
  return (
    <div class={`question grid-question ${alike ? "marks-alike" : "marks-odd"}`}>
      {question.parts.map((part) => (
        <Group key={part[0]?.id} items={part} />
      ))}
      <div
        ref={box}
        class="marks"
        role="group"
        aria-label={question.prompt}
        style={{ "--columns": columns, "--cell": `${cell}px` }}
        onPointerDown={startDrag}
      >
        <div class="mark-cells">
          {shown.map((choice, k) => (
            <Tile
              key={choice.value}
              choice={choice}
              word={question.marking?.word ?? ""}
              sign={alike ? "✓" : "✕"}
              marked={marked.has(choice.value)}
              current={cursor.at === k}
              eager={k < EAGER_TILES}
              toggle={() => choose(choice.value)}
              focused={() => cursor.set(k)}
            />
          ))}
        </div>
      </div>
      <div class="choices">
        {others.map((choice) => (
          <ChoiceButton
            key={choice.value}
            choice={choice}
            chosen={chosen}
            choose={choose}
            className={choice.value === NONE ? "submit" : ""}
            label={choice.value === NONE ? submitLabel(question, marked.size) : choice.label}
          />
        ))}
      </div>
    </div>
  );
}

function Group({ items }: { items: ItemView[] }) {
  return (
    <section class="belonging" aria-label="The group">
      <h2>{items.length === 1 ? "This one" : "The group"}</h2>
      <div class="belonging-items">
        {items.map((item) => (
          <Item key={item.id} item={item} size="small" />
        ))}
      </div>
    </section>
  );
}

interface TileProps {
  choice: ChoiceView;
  word: string;
  sign: string;
  marked: boolean;
  /** Whether the cursor is here. */
  current: boolean;
  eager: boolean;
  toggle: () => void;
  focused: () => void;
}

function Tile({ choice, word, sign, marked, current, eager, toggle, focused }: TileProps) {
  const [tile, near] = useNearScreen<HTMLButtonElement>(eager);
  const name = choice.exemplars.map((item) => item.id).join(", ");
  return (
    <button
      ref={tile}
      type="button"
      class="mark"
      role="checkbox"
      aria-checked={marked}
      aria-label={`${choice.value}: ${name}`}
      aria-keyshortcuts={shortcuts(choice.keys) || undefined}
      data-choice={choice.value}
      data-tile={choice.value}
      data-initial-focus={current || undefined}
      tabIndex={current ? 0 : -1}
      onClick={toggle}
      onFocus={focused}
    >
      {choice.exemplars.map((item) =>
        near ? <Item key={item.id} item={item} size="small" /> : <div key={item.id} class="item small" title={item.id} />,
      )}
      <span class="mark-key" aria-hidden="true">
        <Keys keys={choice.keys} />
      </span>
      {marked && (
        <span class="mark-sign" aria-hidden="true">
          <span>{sign}</span>
          <span class="mark-word">{word}</span>
        </span>
      )}
    </button>
  );
}
