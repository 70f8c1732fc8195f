/** What every key does. */

import type { Act, Choice, Question } from "../api";
import { isNumber, NONE } from "../picks";
import { Keys } from "../questions/button";
import { Dialog } from "./dialog";

const PAIR: [string[], string][] = [
  [["y"], "Same"],
  [["n"], "Different"],
];
const GROUPS: [string[], string][] = [
  [["1", "2", "3", "4", "5"], "This group"],
  [["0"], "None of these"],
];
const UNSURE: [string[], string] = [["u", " "], "Not sure"];

interface Props {
  question: Question | null;
  acts: Act[];
  close: () => void;
}

/** The keys of a question in which several numbers may be chosen. */
function marking(choices: Choice[]): [string[], string][] {
  const none = choices.find((one) => one.value === NONE);
  const numbers = choices.filter((one) => isNumber(one.value));
  return [
    [numbers.flatMap((one) => one.keys), "Mark this one, or take its mark away"],
    [none?.keys ?? [], `Send what is marked; without a mark: ${none?.label.toLowerCase() ?? ""}`],
  ];
}

export function Help({ question, acts, close }: Props) {
  const choices = question?.choices ?? [];
  const usual = [...PAIR, ...(question?.many ? marking(choices) : GROUPS), UNSURE];
  const known = new Set(usual.flatMap(([keys]) => keys));
  const other = choices.filter((one) => !one.keys.some((key) => known.has(key)));
  const rows: [string[], string][] = [
    ...usual,
    ...other.map((one): [string[], string] => [one.keys, one.label]),
    ...acts.map((act): [string[], string] => [act.keys, act.label]),
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
        Press and hold a picture to see it larger. Every answer is saved at once and can be taken back
        or changed at any time. Nothing leaves this machine.
      </p>
    </Dialog>
  );
}
