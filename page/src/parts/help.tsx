/** What every key does. */

import type { Act, Choice, Question } from "../api";
import { type Bindings, keysOf, type Slot, slots, useBindings } from "../bindings";
import { isNumber, NONE } from "../picks";
import { Keys } from "../questions/button";
import { Dialog } from "./dialog";

type Row = [string[], string];

/** The usual keys, as they are in this browser. */
function usual(bindings: Bindings, marks: Row[] | null): Row[] {
  const all = new Map(slots().map(([slot, own]) => [slot, keysOf(bindings, slot, own)]));
  const of = (...names: Slot[]) => names.flatMap((name) => all.get(name) ?? []);
  const groups: Row[] = [
    [of("groups:1", "groups:2", "groups:3", "groups:4", "groups:5"), "This group"],
    [of("groups:none"), "None of these"],
  ];
  return [
    [of("pair:same"), "Same"],
    [of("pair:different"), "Different"],
    ...(marks ?? groups),
    [of("always:unsure"), "Not sure"],
  ];
}

interface Props {
  question: Question | null;
  acts: Act[];
  close: () => void;
  ownKeys: () => void;
}

/** The keys of a question in which several numbers may be chosen. */
function marking(choices: Choice[]): Row[] {
  const none = choices.find((one) => one.value === NONE);
  const numbers = choices.filter((one) => isNumber(one.value));
  return [
    [numbers.flatMap((one) => one.keys), "Mark this one, or take its mark away"],
    [none?.keys ?? [], `Send what is marked; without a mark: ${none?.label.toLowerCase() ?? ""}`],
  ];
}

export function Help({ question, acts, close, ownKeys }: Props) {
  const { bindings } = useBindings();
  const choices = question?.choices ?? [];
  const known = usual(bindings, question?.many ? marking(choices) : null);
  const printed = new Set(known.flatMap(([keys]) => keys));
  const other = choices.filter((one) => !one.keys.some((key) => printed.has(key)));
  const rows: Row[] = [
    ...known,
    ...other.map((one): Row => [one.keys, one.label]),
    ...acts.map((act): Row => [act.keys, act.label]),
  ];
  return (
    <Dialog title="Keys" close={close}>
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
      <p class="quiet-text">
        Answer from what you see; there is no wrong grouping, only yours. “Not sure” is always fine.
        Press and hold a picture to see it larger; on a phone, swipe right for “Same” and left for
        “Different”. Every answer is saved at once and can be taken back
        or changed at any time. Nothing leaves this machine.
      </p>
      <button type="button" onClick={ownKeys}>
        Change the keys
      </button>
    </Dialog>
  );
}
