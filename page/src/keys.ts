/** From a pressed key to what it means, as printed on the buttons. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Act, Question } from "./api";

export type Meaning = { choose: string } | { act: string };

export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  repeat: boolean;
}

/** What a key means while a question is open; null: nothing of ours. */
export function meaning(pressed: Pressed, question: Question | null, acts: Act[]): Meaning | null {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || pressed.repeat) return null;
  const key = pressed.key.length === 1 ? pressed.key.toLowerCase() : pressed.key;
  const choice = question?.choices.find((one) => one.keys.includes(key));
  if (choice) return { choose: choice.value };
  const act = acts.find((one) => one.keys.includes(key));
  return act ? { act: act.name } : null;
}

const NAMES: Record<string, string> = {
  " ": "space",
  Backspace: "⌫",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
};

/** How a key is printed on a button. */
export function printed(key: string): string {
  return NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}

/** Whether a key press belongs to the element that has the focus, not to the question. */
export function taken(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("input, textarea, select, dialog, [contenteditable]")) return true;
  return onButton(target, key);
}

/** Whether a key presses the button that has the focus. */
export function onButton(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // A button reached with Tab is pressed with space or return, as everywhere; a box that is ticked
  // with space leaves return to the question, as in any form.
  if (key === "Enter" && target.closest('[role="checkbox"]')) return false;
  return (key === " " || key === "Enter") && target.closest("button, a, summary") !== null;
}

/** Listen to keys with what was drawn last; one listener, so that no key falls between two. */
export function useKeys(press: (event: KeyboardEvent) => void): void {
  const latest = useRef(press);
  latest.current = press;
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => latest.current(event);
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}
