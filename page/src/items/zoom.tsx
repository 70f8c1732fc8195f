/** Larger on hold: press and hold an item to see it big; letting go is not a click. */

import { render } from "preact";
import type { Item } from "../api";
import { ItemView } from "./item";

const HOLD = 350;
/** So many pixels a finger may tremble; further is a swipe or a drag. */
const TREMBLE = 10;
let timer: ReturnType<typeof setTimeout> | undefined;
let layer: HTMLElement | null = null;

/** Whether something is shown large now, so that the finger on it means nothing else. */
export function zoomed(): boolean {
  return layer !== null;
}

function show(item: Item): void {
  layer = document.createElement("div");
  layer.className = "zoom";
  render(<ItemView item={item} size="large" />, layer);
  document.body.append(layer);
}

function hide(): void {
  clearTimeout(timer);
  if (layer === null) return;
  render(null, layer);
  layer.remove();
  layer = null;
  // The click that follows the release must not choose the group that was looked at.
  const stop = (event: Event) => {
    event.stopPropagation();
    event.preventDefault();
  };
  addEventListener("click", stop, { capture: true, once: true });
  setTimeout(() => removeEventListener("click", stop, { capture: true }), 50);
}

/** Wait for the hold; a finger that moves away before means something else. */
function wait(item: Item, down: PointerEvent): void {
  const ended = new AbortController();
  const { signal } = ended;
  clearTimeout(timer);
  timer = setTimeout(() => show(item), HOLD);
  const end = () => {
    ended.abort();
    hide();
  };
  const move = (event: PointerEvent) => {
    const far = Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY);
    if (event.pointerId === down.pointerId && layer === null && far > TREMBLE) end();
  };
  addEventListener("pointermove", move, { signal });
  addEventListener("pointerup", end, { signal });
  addEventListener("pointercancel", end, { signal });
}

export function hold(item: Item) {
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.isPrimary && event.button === 0) wait(item, event);
    },
    // A phone shows its own menu on a long press; ours is the picture.
    onContextMenu: (event: Event) => {
      if (layer !== null || (event as PointerEvent).pointerType === "touch") event.preventDefault();
    },
  };
}
