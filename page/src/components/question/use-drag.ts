/** Drag over tiles with the mouse to mark several, or to unmark them if the first one was marked. */

import { useEffect, useRef } from "preact/hooks";
import { ignoreNextClick } from "../ignore-click";
import { isZoomed } from "../zoom";

/** The pointer may jump: tiles on the way are looked for at this distance, in pixels. */
const STEP = 8;

type TileAt = (x: number, y: number) => string | null;

/** The tile at a point of the window. */
export const tileAt: TileAt = (x, y) =>
  document.elementFromPoint(x, y)?.closest<HTMLElement>("[data-tile]")?.dataset.tile ?? null;

/** The points between two positions, the last one included. */
export function pointsBetween([x, y]: [number, number], [toX, toY]: [number, number]): [number, number][] {
  const count = Math.max(1, Math.ceil(Math.hypot(toX - x, toY - y) / STEP));
  return Array.from({ length: count }, (_, k) => {
    const share = (k + 1) / count;
    return [x + (toX - x) * share, y + (toY - y) * share];
  });
}

/** An event handler for the box around the tiles. */
export function useDrag(marked: ReadonlySet<string>, toggle: (tile: string) => void, at: TileAt = tileAt) {
  const latest = useRef({ marked, toggle });
  latest.current = { marked, toggle };
  const ended = useRef<AbortController | null>(null);
  useEffect(() => () => ended.current?.abort(), []);

  return (down: PointerEvent) => {
    const first = at(down.clientX, down.clientY);
    if (down.pointerType !== "mouse" || down.button !== 0 || first === null) return;
    const before = new Set(latest.current.marked);
    const passed = new Set<string>();
    let position: [number, number] = [down.clientX, down.clientY];
    const pass = (tile: string) => {
      if (passed.has(tile)) return;
      passed.add(tile);
      if (before.has(tile) === before.has(first)) latest.current.toggle(tile);
    };
    const move = (event: PointerEvent) => {
      if (isZoomed()) return;
      const now: [number, number] = [event.clientX, event.clientY];
      for (const point of pointsBetween(position, now)) {
        const tile = at(...point);
        if (tile === null || (tile === first && passed.size === 0)) continue;
        pass(first);
        pass(tile);
      }
      position = now;
    };
    const up = () => {
      ended.current?.abort();
      if (passed.size > 0) ignoreNextClick();
    };
    ended.current?.abort();
    ended.current = new AbortController();
    const { signal } = ended.current;
    addEventListener("pointermove", move, { signal });
    addEventListener("pointerup", up, { signal });
    addEventListener("pointercancel", up, { signal });
  };
}
