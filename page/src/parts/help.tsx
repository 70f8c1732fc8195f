/** What every key does. */

import type { Act, Question } from "../api";
import { Keys } from "../questions/button";
import { Dialog } from "./dialog";

const CHOICES: [string[], string][] = [
  [["y"], "Same"],
  [["n"], "Different"],
  [["1", "2", "3", "4", "5"], "This group"],
  [["0"], "None of these"],
  [["u", " "], "Not sure"],
];

interface Props {
  question: Question | null;
  acts: Act[];
  close: () => void;
}

export function Help({ question, acts, close }: Props) {
  const known = new Set(CHOICES.flatMap(([keys]) => keys));
  const other = (question?.choices ?? []).filter((one) => !one.keys.some((key) => known.has(key)));
  const rows: [string[], string][] = [
    ...CHOICES,
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
