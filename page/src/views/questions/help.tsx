/** What every key does. */

import type { Act, ChoiceView, QuestionView } from "../../api/schema";
import { Dialog } from "../../components/dialog";
import { Keys } from "../../components/keys";
import { isNumber, NONE } from "../../components/question/use-marks";
import { type Bindings, keysOf, type Slot, slots, useShortcuts } from "../../keyboard/bindings";
import "./shortcuts.css";

type Row = [keys: string[], label: string];

/** The shortcuts that are always listed, with the keys that they have in this browser. */
function commonRows(bindings: Bindings, marking: Row[] | null, none: string): Row[] {
  const keys = new Map(slots().map(([slot, defaults]) => [slot, keysOf(bindings, slot, defaults)]));
  const of = (...names: Slot[]) => names.flatMap((name) => keys.get(name) ?? []);
  const groups: Row[] = [
    [of("groups:1", "groups:2", "groups:3", "groups:4", "groups:5"), "This group"],
    [of("groups:none"), none],
  ];
  return [
    [of("pair:same"), "Same"],
    [of("pair:different"), "Different"],
    ...(marking ?? groups),
    [of("always:unsure").filter((key) => marking === null || key !== " "), "Not sure"],
  ];
}

/** The shortcuts of a question in which several items may be marked. */
function markingRows(choices: ChoiceView[]): Row[] {
  const none = choices.find(({ value }) => value === NONE);
  const numbers = choices.filter(({ value }) => isNumber(value));
  return [
    [numbers.flatMap(({ keys }) => keys), "Mark or unmark this item"],
    [["ArrowLeft", "ArrowUp", "ArrowDown", "ArrowRight"], "Move between items"],
    [[" "], "Mark or unmark the item under the cursor"],
    [none?.keys ?? [], `Submit marked items. With none marked: ${none?.label.toLowerCase() ?? ""}`],
  ];
}

interface Props {
  question: QuestionView | null;
  acts: Act[];
  close: () => void;
  customise: () => void;
}

export function Help({ question, acts, close, customise }: Props) {
  const { bindings } = useShortcuts();
  const choices = question?.choices ?? [];
  const none = question?.new_group ? "New group" : "None of these";
  const common = commonRows(bindings, question?.many ? markingRows(choices) : null, none);
  const listed = new Set(common.flatMap(([keys]) => keys));
  const other = choices.filter(({ keys }) => !keys.some((key) => listed.has(key)));
  const rows: Row[] = [...common, ...[...other, ...acts].map(({ keys, label }): Row => [keys, label])];
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <table class="help">
        <tbody>
          {rows.map(([keys, label]) => (
            <tr key={label}>
              <td>
                <Keys keys={keys} />
              </td>
              <td>{label}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="muted">
        Answer by what you see. There is no wrong grouping, only yours, and “Not sure” is always fine.
        Press and hold a picture to enlarge it. A right click, Shift+F10 or the menu key opens its menu. On a phone, swipe right for “Same” or to send marked items,
        left for “Different” or “Not sure”. Drag the mouse over items to mark several. Every answer is saved at once and can be changed at any time. Nothing leaves this
        computer.
      </p>
      <button type="button" onClick={customise}>
        Customise shortcuts
      </button>
    </Dialog>
  );
}
