/** Long lists: only the rows near the screen are rendered, and the page scrolls as if all were. */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface CellSize {
  minWidth: number;
  /** The height of a cell of a given width. */
  height: (width: number) => number;
  gap: number;
}

export interface VirtualWindow {
  columns: number;
  /** The height of a row, including the gap below it. */
  rowHeight: number;
  /** The cells to render: from `first` up to, not including, `last`. */
  first: number;
  last: number;
  /** The offset of the first rendered row. */
  top: number;
  /** The height of the whole list. */
  height: number;
}

/** Rows that are rendered beyond the edges of the screen. */
const OVERSCAN = 2;

/** What to render of `total` cells in a list `width` wide, visible from `from` to `to`. */
export function virtualWindow(
  cell: CellSize,
  total: number,
  width: number,
  from: number,
  to: number,
): VirtualWindow {
  const columns = Math.max(1, Math.floor((width + cell.gap) / (cell.minWidth + cell.gap)));
  const cellWidth = (width - cell.gap * (columns - 1)) / columns;
  const rowHeight = Math.max(1, cell.height(Math.max(cellWidth, 0)) + cell.gap);
  const rows = Math.ceil(total / columns);
  const firstRow = Math.min(rows, Math.max(0, Math.floor(from / rowHeight) - OVERSCAN));
  const lastRow = Math.min(rows, Math.max(firstRow, Math.ceil(to / rowHeight) + OVERSCAN));
  return {
    columns,
    rowHeight,
    first: firstRow * columns,
    last: Math.min(total, lastRow * columns),
    top: firstRow * rowHeight,
    height: Math.max(0, rows * rowHeight - cell.gap),
  };
}

/** Follow the scroll position of the page and the width of the list. */
export function useVirtualList(cell: CellSize, total: number): [RefObject<HTMLDivElement>, VirtualWindow] {
  const list = useRef<HTMLDivElement>(null);
  const measure = (): VirtualWindow => {
    const box = list.current?.getBoundingClientRect();
    if (!box) return virtualWindow(cell, total, 0, 0, innerHeight);
    return virtualWindow(cell, total, box.width, -box.top, innerHeight - box.top);
  };
  const [, render] = useState("");
  useLayoutEffect(() => {
    let frame = 0;
    const update = () => {
      frame = 0;
      render(JSON.stringify(measure())); // renders again only when other rows come into view
    };
    const schedule = () => {
      if (frame === 0) frame = requestAnimationFrame(update);
    };
    const observer = new ResizeObserver(schedule);
    if (list.current) observer.observe(list.current);
    addEventListener("scroll", schedule, { passive: true });
    addEventListener("resize", schedule);
    update();
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      removeEventListener("scroll", schedule);
      removeEventListener("resize", schedule);
    };
  }, [total, cell]);
  return [list, measure()];
}
