/** Larger on hold: press and hold an item to see it big; letting go is not a click. */

import { render } from "preact";
import type { Item } from "../api";
import { ItemView } from "./item";

const HOLD = 350;
let timer: ReturnType<typeof setTimeout> | undefined;
let layer: HTMLElement | null = null;

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

export function hold(item: Item) {
  return {
    onPointerDown: () => {
      clearTimeout(timer);
      timer = setTimeout(() => show(item), HOLD);
      addEventListener("pointerup", hide, { once: true });
      addEventListener("pointercancel", hide, { once: true });
    },
    onPointerLeave: () => {
      if (layer === null) clearTimeout(timer);
    },
    onContextMenu: (event: Event) => {
      if (layer !== null) event.preventDefault();
    },
  };
}
