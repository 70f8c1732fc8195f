/** The button of a choice, with its keys printed on it. */

import type { ComponentChildren } from "preact";
import type { Choice } from "../api";
import { printed } from "../keys";

export function Keys({ keys }: { keys: string[] }) {
  return (
    <span class="keys" aria-hidden="true">
      {keys.map((key) => (
        <kbd key={key}>{printed(key)}</kbd>
      ))}
    </span>
  );
}

interface Props {
  choice: Choice;
  chosen: string | null;
  choose: (value: string) => void;
  className?: string;
  children?: ComponentChildren;
}

export function ChoiceButton({ choice, chosen, choose, className = "", children }: Props) {
  return (
    <button
      type="button"
      class={`choice ${className}`}
      aria-pressed={chosen === choice.value}
      aria-keyshortcuts={choice.keys.map((key) => (key === " " ? "Space" : key)).join(" ")}
      data-choice={choice.value}
      onClick={() => choose(choice.value)}
    >
      {children}
      <span class="choice-label">
        <Keys keys={choice.keys} />
        <span>{choice.label}</span>
      </span>
    </button>
  );
}
