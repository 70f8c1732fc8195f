/** The button of a choice, with its keys printed on it. */

import type { ComponentChildren } from "preact";
import type { ChoiceView } from "../../api/schema";
import { shortcuts } from "../../keyboard/keys";
import { Keys } from "../keys";
import { Swatch } from "../swatch";

interface Props {
  choice: ChoiceView;
  chosen: string | null;
  choose: (value: string) => void;
  /** Whether this is one of several marked choices. */
  marked?: boolean;
  /** The text on it, where that depends on what is marked. */
  label?: string;
  className?: string;
  children?: ComponentChildren;
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
        {choice.place !== null && <Swatch slot={choice.place} />}
        <span>{label ?? choice.label}</span>
      </span>
    </button>
  );
}
