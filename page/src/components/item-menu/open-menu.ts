/** Opening the menu of an item, from wherever it is shown. */

import type { ItemView } from "../../api/schema";

export interface MenuRequest {
  item: ItemView;
  /** Where on the screen, in pixels. */
  x: number;
  y: number;
}

/** Which item an element shows, so that the keyboard finds it. */
const shownBy = new WeakMap<Element, ItemView>();

export function rememberItem(element: Element | null, item: ItemView): void {
  if (element) shownBy.set(element, item);
}

/** Whether a key asks for a menu, as in other programs. */
export function isMenuKey({ key, shiftKey }: Pick<KeyboardEvent, "key" | "shiftKey">): boolean {
  return key === "ContextMenu" || (shiftKey && key === "F10");
}

/** The menu of the item that has the focus or the cursor, or of the first one that is shown. */
export function requestAtFocus(): MenuRequest | null {
  const focus = document.activeElement;
  const active = document.getElementById(focus?.getAttribute("aria-activedescendant") ?? "") ?? focus;
  const place =
    active?.closest(".item") ?? active?.querySelector(".item") ?? document.querySelector("main:not(.map) .item");
  const item = place && shownBy.get(place);
  if (!place || !item || item.preview === null) return null;
  const { left, top, width, height } = place.getBoundingClientRect();
  return { item, x: left + width / 2, y: top + height / 2 };
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
