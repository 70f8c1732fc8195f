/** Select several items in a grid: by click, by shift-click, by arrow keys. */

import { useState } from "preact/hooks";
import type { MemberView } from "../../api/schema";
import { MAX_ITEMS_PER_ACT } from "../../workspace/use-acts";

/** Rows that Page Up and Page Down move by. */
const PAGE_ROWS = 4;

/** The index that an arrow key moves to in a grid; `null` for other keys. */
export function nextIndex(key: string, index: number, columns: number, total: number): number | null {
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    PageUp: -PAGE_ROWS * columns,
    PageDown: PAGE_ROWS * columns,
    Home: -total,
    End: total,
  };
  const step = steps[key];
  if (step === undefined || total === 0) return null;
  const next = index + step;
  const row = (of: number) => Math.floor(of / columns);
  // Up in the first row and down in the last one stay where they are.
  if (key === "ArrowUp" && next < 0) return index;
  if (key === "ArrowDown" && next >= total) return row(index) < row(total - 1) ? total - 1 : index;
  return Math.min(total - 1, Math.max(0, next));
}

export interface Selection {
  /** The selected items, by their positions in the collection. */
  selected: ReadonlySet<number>;
  /** The index in the list that keys act on. */
  cursor: number;
  toggle: (index: number) => void;
  /** Select everything from the anchor to this index. */
  extendTo: (index: number) => void;
  moveTo: (index: number) => void;
  clear: () => void;
}

type ReadRange = (first: number, last: number) => Promise<MemberView[]>;

export function useSelection(at: (index: number) => MemberView | undefined, read: ReadRange): Selection {
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const [cursor, setCursor] = useState(0);
  const [anchor, setAnchor] = useState(0);
  const moveTo = (index: number) => {
    setCursor(index);
    setAnchor(index);
  };
  return {
    selected,
    cursor,
    moveTo,
    toggle: (index) => {
      const member = at(index);
      moveTo(index);
      if (!member) return;
      setSelected((before) => {
        const after = new Set(before);
        if (!after.delete(member.position)) after.add(member.position);
        return after;
      });
    },
    extendTo: (index) => {
      setCursor(index);
      const first = Math.min(anchor, index);
      const last = Math.max(anchor, index) + 1;
      // Items in between may not have been read yet.
      void read(first, Math.min(last, first + MAX_ITEMS_PER_ACT)).then(
        (members) =>
          setSelected((before) => new Set([...before, ...members.map(({ position }) => position)])),
        () => undefined, // the list shows the error
      );
    },
    clear: () => setSelected(new Set()),
  };
}
