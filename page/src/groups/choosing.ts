/** Several items chosen in a grid: by click, by shift and click, by arrow keys. */

import { useState } from "preact/hooks";
import { MOST_ITEMS, type Member } from "../acts-api";

/** Where an arrow key leads to in a grid; null: the key is not for us. */
export function step(key: string, at: number, columns: number, total: number): number | null {
  const by: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    PageUp: -4 * columns,
    PageDown: 4 * columns,
    Home: -total,
    End: total,
  };
  const move = by[key];
  if (move === undefined || total === 0) return null;
  const to = at + move;
  const row = (index: number) => Math.floor(index / columns);
  // Up from the first row and down from the last one stay where they are.
  if (key === "ArrowUp" && to < 0) return at;
  if (key === "ArrowDown" && to >= total) return row(at) < row(total - 1) ? total - 1 : at;
  return Math.min(total - 1, Math.max(0, to));
}

export interface Choosing {
  /** Positions in the collection of what is chosen. */
  chosen: ReadonlySet<number>;
  /** The place in the list that keys act on. */
  cursor: number;
  toggle: (index: number) => void;
  /** Choose everything from where one began to here. */
  reach: (index: number) => void;
  move: (index: number) => void;
  clear: () => void;
}

type Range = (first: number, last: number) => Promise<Member[]>;

export function useChoosing(at: (index: number) => Member | undefined, range: Range): Choosing {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [cursor, setCursor] = useState(0);
  const [anchor, setAnchor] = useState(0);
  return {
    chosen,
    cursor,
    move: (index) => {
      setCursor(index);
      setAnchor(index);
    },
    toggle: (index) => {
      const member = at(index);
      setCursor(index);
      setAnchor(index);
      if (!member) return;
      setChosen((before) => {
        const after = new Set(before);
        if (!after.delete(member.position)) after.add(member.position);
        return after;
      });
    },
    reach: (index) => {
      setCursor(index);
      const first = Math.min(anchor, index);
      const last = Math.max(anchor, index) + 1;
      // Those between may not have been read yet.
      void range(first, Math.min(last, first + MOST_ITEMS)).then(
        (members) =>
          setChosen((before) => new Set([...before, ...members.map((member) => member.position)])),
        () => undefined, // said by the list itself
      );
    },
    clear: () => setChosen(new Set()),
  };
}
