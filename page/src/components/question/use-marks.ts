/** Questions in which several numbers may be chosen: they are marked first, then submitted. */

import { useRef, useState } from "preact/hooks";
import type { AnswerView, ItemView, QuestionView } from "../../api/schema";

export const NONE = "none";

/** Whether a choice can be combined with others. */
export function isNumber(choice: string): boolean {
  return /^\d+$/.test(choice);
}

/** The numbers in a choice. */
export function numbersIn(choice: string | null): string[] {
  return (choice ?? "").split(",").filter(isNumber);
}

/** The choice that combines these numbers: ascending, separated by commas, or "none". */
export function combine(numbers: Iterable<string>): string {
  return [...new Set(numbers)].sort((a, b) => Number(a) - Number(b)).join(",") || NONE;
}

/** The text on the button that sends the marked numbers. */
export function submitLabel({ choices, marking }: QuestionView, marked: number): string {
  if (marked > 0 && marking) return marked === 1 ? marking.one : marking.several.replace("{}", `${marked}`);
  if (marked > 0) return marked === 1 ? "Only the marked one" : `The ${marked} marked ones`;
  return choices.find(({ value }) => value === NONE)?.label ?? "";
}

/** The exemplars of what was chosen in an answer. */
export function chosenItems({ choice, question }: AnswerView): ItemView[] {
  const values = question.many ? numbersIn(choice) : [choice];
  return question.choices
    .filter((one) => values.includes(one.value))
    .flatMap((one) => one.exemplars);
}

export interface Marks {
  marked: ReadonlySet<string>;
  /** Press the button of a choice: a number is marked or unmarked, everything else is an answer. */
  press: (choice: string, name?: string) => void;
}

interface State {
  question: number | null;
  marked: Set<string>;
}

/**
 * The numbers marked so far in a question, and what pressing a choice does.
 *
 * `initial` is the choice to begin with, `sent` one that is being sent and cannot be changed.
 */
export function useMarks(
  question: QuestionView | null,
  answer: (choice: string, name?: string) => void,
  { initial = null, sent = null }: { initial?: string | null; sent?: string | null } = {},
): Marks {
  // Read before the next render: keys may be pressed in quick succession.
  const state = useRef<State>({ question: null, marked: new Set() });
  const [, render] = useState(0);
  const number = question?.number ?? null;
  if (state.current.question !== number) {
    state.current = { question: number, marked: new Set(numbersIn(initial)) };
  }
  const many = question?.many ?? false;
  return {
    marked: !many ? new Set() : sent === null ? state.current.marked : new Set(numbersIn(sent)),
    press: (choice, name) => {
      const { marked } = state.current;
      if (many && isNumber(choice)) {
        if (sent !== null) return;
        if (!marked.delete(choice)) marked.add(choice);
        render((n) => n + 1);
      } else if (name) answer(choice, name);
      else answer(many && choice === NONE ? combine(marked) : choice);
    },
  };
}
