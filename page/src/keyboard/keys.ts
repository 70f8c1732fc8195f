/** From a key press to its meaning, as printed on the buttons. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Act, QuestionView } from "../api/schema";

export type Command = { choose: string } | { act: string };

export type KeyPress = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "repeat">;

/** What a key does while a question is open; `null`: nothing. */
export function commandFor(press: KeyPress, question: QuestionView | null, acts: Act[]): Command | null {
  if (!isPlainPress(press)) return null;
  const key = normalise(press.key);
  const choice = question?.choices.find(({ keys }) => keys.includes(key));
  if (choice) return { choose: choice.value };
  const act = acts.find(({ keys }) => keys.includes(key));
  return act ? { act: act.name } : null;
}

/** Letters mean the same in upper and lower case. */
export function normalise(key: string): string {
  return key.length === 1 ? key.toLowerCase() : key;
}

/** Pressed once, without Ctrl and the like. */
export function isPlainPress({ ctrlKey, metaKey, altKey, repeat }: KeyPress): boolean {
  return !(ctrlKey || metaKey || altKey || repeat);
}

const CAPTIONS: Record<string, string> = {
  " ": "space",
  Backspace: "⌫",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
};

/** How a key is printed on a button. */
export function caption(key: string): string {
  return CAPTIONS[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}

/** Keys as `aria-keyshortcuts` expects them. */
export function shortcuts(keys: string[]): string {
  return keys.map((key) => (key === " " ? "Space" : key)).join(" ");
}

/** Whether a key press belongs to the focused element rather than to the question. */
export function isHandledByFocus(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("input, textarea, select, dialog, [contenteditable]")) return true;
  return activatesFocus(target, key);
}

/** The same for views with checkboxes and radio buttons, which need only few keys. */
export function isHandledByControl(target: EventTarget | null, key: string): boolean {
  const box = target instanceof HTMLInputElement && ["checkbox", "radio"].includes(target.type);
  if (box && target.closest("dialog") === null) return key === " " || key.startsWith("Arrow");
  return isHandledByFocus(target, key);
}

/** Whether a key activates the focused button or link. */
export function activatesFocus(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // Space toggles a checkbox, but Return submits, as in any form.
  if (key === "Enter" && target.closest('[role="checkbox"]')) return false;
  return (key === " " || key === "Enter") && target.closest("button, a, summary") !== null;
}

/** Listen to key presses. One listener for all renders, so that no key is lost between two. */
export function useKeys(onPress: (event: KeyboardEvent) => void): void {
  const latest = useRef(onPress);
  latest.current = onPress;
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => latest.current(event);
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}
