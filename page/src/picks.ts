/** Questions in which several numbers may be chosen: they are marked first, and then sent. */

import { useRef, useState } from "preact/hooks";
import type { Answer, Choice, Item, Question } from "./api";

export const NONE = "none";

/** Whether a choice is one of those that may be joined with others. */
export function isNumber(choice: string): boolean {
  return /^\d+$/.test(choice);
}

/** The numbers that a choice names. */
export function numbers(choice: string | null): string[] {
  return (choice ?? "").split(",").filter(isNumber);
}

/** The one choice that names all of these: ascending, with commas, or "none". */
export function joined(picked: Iterable<string>): string {
  return [...new Set(picked)].sort((a, b) => Number(a) - Number(b)).join(",") || NONE;
}

/** What the chosen part of an answered question stands for. */
export function stoodFor(answer: Answer): Item[] {
  const named = answer.question.many ? numbers(answer.choice) : [answer.choice];
  const chosen = answer.question.choices.filter((choice: Choice) => named.includes(choice.value));
  return chosen.flatMap((choice) => choice.exemplars);
}

export interface Picks {
  picked: ReadonlySet<string>;
  /** Press the button of a choice: a number is marked or unmarked, all else is an answer. */
  press: (choice: string) => void;
}

interface Marks {
  number: number | null;
  marked: Set<string>;
}

/**
 * The numbers marked so far in a question, and what pressing a choice does.
 *
 * `start` is the choice to begin with, `sent` one that is on its way and cannot be changed.
 */
export function usePicks(
  question: Question | null,
  answer: (choice: string) => void,
  { start = null, sent = null }: { start?: string | null; sent?: string | null } = {},
): Picks {
  // Read back at once, before the page is drawn again: keys come quickly.
  const live = useRef<Marks>({ number: null, marked: new Set() });
  const [, draw] = useState(0);
  const number = question?.number ?? null;
  if (live.current.number !== number) live.current = { number, marked: new Set(numbers(start)) };
  const many = question?.many ?? false;
  return {
    picked: !many ? new Set() : sent === null ? live.current.marked : new Set(numbers(sent)),
    press: (choice) => {
      const { marked } = live.current;
      if (many && isNumber(choice)) {
        if (sent !== null) return;
        if (!marked.delete(choice)) marked.add(choice);
        draw((n) => n + 1);
      } else answer(many && choice === NONE ? joined(marked) : choice);
    },
  };
}
