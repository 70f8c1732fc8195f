/** Press and hold an item to enlarge it. Releasing it is not a click. A right click opens its menu;
 * after holding a finger on it, a button does. */

import { render } from "preact";
import type { ItemView } from "../api/schema";
import { ignoreNextClick } from "./ignore-click";
import { Item } from "./item";
import { ItemFacts } from "./item-facts";
import { openItemMenu } from "./item-menu/open-menu";

const HOLD_MS = 350;
/** A finger that moves farther than this, in pixels, swipes or drags instead. */
const MAX_MOVEMENT = 10;
/** A mouse that moves farther than this while an item is enlarged drags it after all. */
const MAX_HELD_MOVEMENT = 40;
let timer: ReturnType<typeof setTimeout> | undefined;
let overlay: HTMLElement | null = null;

/** Whether an item is enlarged right now, so that the finger on it means nothing else. */
export function isZoomed(): boolean {
  return overlay !== null;
}

function show(item: ItemView): void {
  overlay = document.createElement("div");
  overlay.className = "zoom";
  render(
    <>
      <Item item={item} size="large" />
      <ItemFacts item={item} />
    </>,
    overlay,
  );
  document.body.append(overlay);
}

function hide(): void {
  clearTimeout(timer);
  if (overlay === null) return;
  render(null, overlay);
  overlay.remove();
  overlay = null;
  ignoreNextClick(); // the release must not choose what was enlarged
}

/** Enlarge an item once the pointer that was put down has been held for a while. */
export function startHold(item: ItemView, down: PointerEvent): void {
  const ended = new AbortController();
  const { signal } = ended;
  clearTimeout(timer);
  timer = setTimeout(() => show(item), HOLD_MS);
  const end = (event?: Event) => {
    const held = overlay !== null && event?.type === "pointerup" && down.pointerType !== "mouse";
    ended.abort();
    hide();
    if (held) offerMenu(item);
  };
  const move = (event: PointerEvent) => {
    const distance = Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY);
    const drags = distance > (overlay === null ? MAX_MOVEMENT : MAX_HELD_MOVEMENT);
    const mayDrag = overlay === null || down.pointerType === "mouse";
    if (event.pointerId === down.pointerId && mayDrag && drags) end();
  };
  const press = (event: PointerEvent) => {
    if (event.pointerId !== down.pointerId) end(); // two fingers mean something else
  };
  addEventListener("pointerdown", press, { signal });
  addEventListener("pointermove", move, { signal });
  addEventListener("pointerup", end, { signal });
  addEventListener("pointercancel", end, { signal });
}

/** After a finger has held an item: a button that opens its menu, until something else is touched. */
function offerMenu(item: ItemView): void {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "more-pill";
  button.textContent = "More about this…";
  const remove = () => {
    button.remove();
    removeEventListener("pointerdown", touched, true);
  };
  const touched = (event: Event) => {
    if (event.target !== button) remove();
  };
  button.addEventListener("click", () => {
    const { left, top } = button.getBoundingClientRect();
    remove();
    openItemMenu({ item, x: left, y: top });
  });
  document.body.append(button);
  addEventListener("pointerdown", touched, true);
}

/** Event handlers for an element that shows an item. */
export function holdToZoom(item: ItemView) {
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.isPrimary && event.button === 0) startHold(item, event);
    },
    // Phones open their own menu on a long press.
    onContextMenu: (event: MouseEvent) => {
      const touch = (event as PointerEvent).pointerType === "touch";
      if (overlay !== null || touch) return event.preventDefault();
      clearTimeout(timer);
      const { clientX: x, clientY: y } = event;
      if (item.preview !== null && openItemMenu({ item, x, y })) event.preventDefault();
    },
  };
}
