/** Press and hold an item to enlarge it. Releasing it is not a click. */

import { render } from "preact";
import type { ItemView } from "../api/schema";
import { Item } from "./item";
import { ItemFacts } from "./item-facts";

const HOLD_MS = 350;
/** A finger that moves farther than this, in pixels, swipes or drags instead. */
const MAX_MOVEMENT = 10;
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
  // The click that follows the release must not choose what was enlarged.
  const cancel = (event: Event) => {
    event.stopPropagation();
    event.preventDefault();
  };
  addEventListener("click", cancel, { capture: true, once: true });
  setTimeout(() => removeEventListener("click", cancel, { capture: true }), 50);
}

function startHold(item: ItemView, down: PointerEvent): void {
  const ended = new AbortController();
  const { signal } = ended;
  clearTimeout(timer);
  timer = setTimeout(() => show(item), HOLD_MS);
  const end = () => {
    ended.abort();
    hide();
  };
  const move = (event: PointerEvent) => {
    const distance = Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY);
    if (event.pointerId === down.pointerId && overlay === null && distance > MAX_MOVEMENT) end();
  };
  addEventListener("pointermove", move, { signal });
  addEventListener("pointerup", end, { signal });
  addEventListener("pointercancel", end, { signal });
}

/** Event handlers for an element that shows an item. */
export function holdToZoom(item: ItemView) {
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.isPrimary && event.button === 0) startHold(item, event);
    },
    // Phones open their own menu on a long press.
    onContextMenu: (event: Event) => {
      if (overlay !== null || (event as PointerEvent).pointerType === "touch") event.preventDefault();
    },
  };
}
