/** A cursor over tiles, moved by the arrow keys. The tile under it is the one that Tab reaches. */

import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { useKeys } from "../../keyboard/keys";
import { step } from "./grid-layout";

export interface Cursor {
  at: number;
  set: (index: number) => void;
}

/** The tiles side by side, as they are now: style sheets may rearrange them. */
function columnsNow(tiles: HTMLElement[]): number {
  const top = tiles[0]?.offsetTop;
  return Math.max(1, tiles.filter((tile) => tile.offsetTop === top).length);
}

/** Whether keys belong to something else: a field, or a dialog over the tiles. */
function isElsewhere(target: EventTarget | null, box: HTMLElement): boolean {
  if (target instanceof HTMLElement && target.closest("input, textarea, select")) return true;
  const dialogs = [...document.querySelectorAll("dialog[open]")];
  const top = dialogs[dialogs.length - 1];
  return top !== undefined && !top.contains(box);
}

export function useCursor(box: RefObject<HTMLElement>, selector: string): Cursor {
  const [at, set] = useState(0);
  useKeys((event) => {
    const node = box.current;
    if (node === null || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isElsewhere(event.target, node)) return;
    const tiles = [...node.querySelectorAll<HTMLElement>(selector)];
    const next = step(at, event.key, columnsNow(tiles), tiles.length);
    if (next === null) return;
    event.preventDefault();
    set(next);
    tiles[next]?.focus();
  });
  return { at, set };
}
