/** Long lists: only the rows near the screen are there; the page scrolls as if all were. */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Plan {
  /** The least width of a cell, and how high a cell is when it is that wide or wider. */
  least: number;
  height: (width: number) => number;
  gap: number;
}

export interface Shown {
  columns: number;
  /** The height of a row, with the gap below it. */
  row: number;
  /** The cells to draw: from `first` up to, not including, `last`. */
  first: number;
  last: number;
  /** How far down the first drawn row lies, and how high the whole list is. */
  top: number;
  whole: number;
}

/** Rows that are drawn beyond the edges of the screen. */
const BEYOND = 2;

/** What to draw of `total` cells in a list `width` wide, of which a screen sees `from` to `to`. */
export function shown(plan: Plan, total: number, width: number, from: number, to: number): Shown {
  const columns = Math.max(1, Math.floor((width + plan.gap) / (plan.least + plan.gap)));
  const cell = (width - plan.gap * (columns - 1)) / columns;
  const row = Math.max(1, plan.height(Math.max(cell, 0)) + plan.gap);
  const rows = Math.ceil(total / columns);
  const above = Math.min(rows, Math.max(0, Math.floor(from / row) - BEYOND));
  const below = Math.min(rows, Math.max(above, Math.ceil(to / row) + BEYOND));
  return {
    columns,
    row,
    first: above * columns,
    last: Math.min(total, below * columns),
    top: above * row,
    whole: Math.max(0, rows * row - plan.gap),
  };
}

/** Follow the scrolling of the page and the width of the list. */
export function useShown(plan: Plan, total: number): [RefObject<HTMLDivElement>, Shown] {
  const list = useRef<HTMLDivElement>(null);
  const measure = (): Shown => {
    const box = list.current?.getBoundingClientRect();
    if (!box) return shown(plan, total, 0, 0, innerHeight);
    return shown(plan, total, box.width, -box.top, innerHeight - box.top);
  };
  const [, draw] = useState("");
  useLayoutEffect(() => {
    let waiting = 0;
    const look = () => {
      waiting = 0;
      draw(JSON.stringify(measure())); // drawn again only when other rows come into view
    };
    const soon = () => {
      if (waiting === 0) waiting = requestAnimationFrame(look);
    };
    const sizes = new ResizeObserver(soon);
    if (list.current) sizes.observe(list.current);
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    look();
    return () => {
      cancelAnimationFrame(waiting);
      sizes.disconnect();
      removeEventListener("scroll", soon);
      removeEventListener("resize", soon);
    };
  }, [total, plan]);
  return [list, measure()];
}
