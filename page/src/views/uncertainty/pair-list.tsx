/** Pairs to decide, each answered where it is shown: with its buttons, or with its keys if it has the focus. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { QuestionView, UncertainPairView } from "../../api/schema";
import { Item } from "../../components/item";
import { Keys } from "../../components/keys";
import { useShortcuts } from "../../keyboard/bindings";
import { activatesFocus, commandFor, shortcuts } from "../../keyboard/keys";

interface Props {
  pairs: UncertainPairView[];
  busy: boolean;
  answer: (pair: UncertainPairView, choice: string) => Promise<boolean>;
}

export function PairList({ pairs, busy, answer }: Props) {
  const { bindQuestion } = useShortcuts();
  const list = useRef<HTMLUListElement>(null);
  /** The place in the list that takes the focus once the answered pair has gone. */
  const next = useRef<number | null>(null);
  useLayoutEffect(() => {
    const place = next.current;
    next.current = null;
    if (place === null) return;
    const cards = list.current?.querySelectorAll<HTMLElement>(".pair-card") ?? [];
    cards[Math.min(place, cards.length - 1)]?.focus({ preventScroll: true });
  }, [pairs]);

  const choose = (place: number, pair: UncertainPairView, choice: string) => {
    if (busy) return;
    next.current = place;
    void answer(pair, choice).then((saved) => {
      if (!saved) next.current = null;
    });
  };
  return (
    <ul class="pair-list" ref={list}>
      {pairs.map((pair, place) => (
        <li key={pair.positions.join(" ")}>
          <PairCard
            question={bindQuestion(pair.question)}
            busy={busy}
            choose={(choice) => choose(place, pair, choice)}
          />
        </li>
      ))}
    </ul>
  );
}

interface CardProps {
  question: QuestionView;
  busy: boolean;
  choose: (choice: string) => void;
}

function PairCard({ question, busy, choose }: CardProps) {
  const press = (event: KeyboardEvent) => {
    if (activatesFocus(event.target, event.key)) return;
    const command = commandFor(event, question, []);
    if (command === null || !("choose" in command)) return;
    event.preventDefault();
    event.stopPropagation();
    choose(command.choose);
  };
  const names = question.items.map(({ id }) => id).join(" and ");
  return (
    <div class="pair-card" role="group" tabIndex={0} aria-label={`${question.prompt} ${names}`} onKeyDown={press}>
      <div class="pair-items">
        {question.items.map((item) => (
          <Item key={item.id} item={item} size="medium" />
        ))}
      </div>
      <div class="pair-choices">
        {question.choices.map(({ value, label, keys }) => (
          <button
            key={value}
            type="button"
            class={value === "unsure" ? "quiet" : ""}
            disabled={busy}
            aria-keyshortcuts={shortcuts(keys)}
            onClick={() => choose(value)}
          >
            <span class="by-key">
              <Keys keys={keys.slice(0, 1)} />
            </span>{" "}
            {label}
          </button>
        ))}
      </div>
    </div>
  );
}
