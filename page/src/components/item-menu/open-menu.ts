/** Opening the menu of an item, from wherever it is shown. */

import type { ItemView } from "../../api/schema";

export interface MenuRequest {
  item: ItemView;
  /** Where on the screen, in pixels. */
  x: number;
  y: number;
}

type Listener = (request: MenuRequest) => void;
let listener: Listener | null = null;

/** Show menus from now on; returns a function that stops it. */
export function onMenuRequest(show: Listener): () => void {
  listener = show;
  return () => {
    if (listener === show) listener = null;
  };
}

/** Open the menu of an item; returns whether anything on the page shows menus. */
export function openItemMenu(request: MenuRequest): boolean {
  listener?.(request);
  return listener !== null;
}
