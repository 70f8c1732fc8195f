/** Whose key it is: one that the focused element needs, or one of the view. */

import { onButton, taken } from "../keys";

/** Whether a key press belongs to the element that has the focus; boxes to tick need few keys. */
export function isTaken(target: EventTarget | null, key: string): boolean {
  const box = target instanceof HTMLInputElement && ["checkbox", "radio"].includes(target.type);
  if (box && target.closest("dialog") === null) return key === " " || key.startsWith("Arrow");
  return taken(target, key) || onButton(target, key);
}

/** A key that is pressed once, without Ctrl and the like. */
export function isPlain(event: KeyboardEvent): boolean {
  return !(event.ctrlKey || event.metaKey || event.altKey || event.repeat);
}
