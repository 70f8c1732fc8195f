/** The button of a choice, with its keys printed on it. */

import type { ComponentChildren } from "preact";
import type { Choice, Question } from "../api";
import { printed } from "../keys";
import { NONE } from "../picks";

export function Keys({ keys }: { keys: string[] }) {
  return (
    <span class="keys" aria-hidden="true">
      {keys.map((key) => (
        <kbd key={key}>{printed(key)}</kbd>
      ))}
    </span>
  );
}

/** Keys in the words that a screen reader expects. */
export function shortcuts(keys: string[]): string {
  return keys.map((key) => (key === " " ? "Space" : key)).join(" ");
}

interface Props {
  choice: Choice;
  chosen: string | null;
  choose: (value: string) => void;
  /** Whether this choice is one of several that are marked. */
  marked?: boolean;
  /** What is written on it, where that depends on what is marked. */
  label?: string;
  className?: string;
  children?: ComponentChildren;
}

/** What is written on the button that sends, which without a mark means "none". */
export function sending(question: Question, choice: Choice, picked: ReadonlySet<string>): string {
  if (!question.many || choice.value !== NONE || picked.size === 0) return choice.label;
  return picked.size === 1 ? "Only the one marked" : `The ${picked.size} marked`;
}

export function ChoiceButton(props: Props) {
  const { choice, chosen, choose, marked = false, label, className = "", children } = props;
  return (
    <button
      type="button"
      class={`choice ${className}`}
      aria-pressed={marked || chosen === choice.value}
      aria-keyshortcuts={shortcuts(choice.keys)}
      data-choice={choice.value}
      onClick={() => choose(choice.value)}
    >
      {children}
      <span class="choice-label">
        <Keys keys={choice.keys} />
        <span>{label ?? choice.label}</span>
      </span>
    </button>
  );
}
