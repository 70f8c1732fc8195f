/**
 * On a phone: swipe right for "Same", left for "Different". Where items are marked, right sends the
 * marked ones and left is "Not sure". Other choices are tapped.
 */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ChoiceView, QuestionView } from "../../api/schema";
import { NONE, submitLabel } from "../../components/question/use-marks";
import { isZoomed } from "../../components/zoom";
import "./swipe.css";

/** A movement of at least this many pixels is a swipe. */
const MIN_MOVEMENT = 12;
/** Assumed before the width of the screen is known. */
const PHONE_WIDTH = 390;

export interface Directions {
  left: ChoiceView;
  right: ChoiceView;
}

/** What the two directions mean with so many marked items; `null` for questions that are not swiped. */
export function directions(question: QuestionView | null, marked = 0): Directions | null {
  const find = (value: string) => question?.choices.find((choice) => choice.value === value);
  if (question?.many) {
    const [left, send] = [find("unsure"), find(NONE)];
    return left && send ? { left, right: { ...send, label: submitLabel(question, marked) } } : null;
  }
  const [left, right] = [find("different"), find("same")];
  return left && right ? { left, right } : null;
}

/** How far to swipe: about a quarter of the screen, and no farther than a thumb reaches. */
export function swipeDistance(width: number): number {
  return Math.min(130, Math.max(70, width * 0.28));
}

interface Drag {
  id: number;
  x: number;
  y: number;
  moving: boolean;
}

interface Props {
  question: QuestionView;
  /** How many items are marked. */
  marked: number;
  choose: (value: string) => void;
  children: ComponentChildren;
}

export function Swipe({ question, marked, choose, children }: Props) {
  const choices = directions(question, marked);
  const drag = useRef<Drag | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const [dx, setDx] = useState(0);
  const stop = () => {
    drag.current = null;
    setDx(0);
  };
  useLayoutEffect(stop, [question.number]);
  if (choices === null) return <div class="swipe">{children}</div>;

  const distance = swipeDistance(box.current?.clientWidth ?? PHONE_WIDTH);
  const progress = Math.min(1, Math.abs(dx) / distance);
  const down = (event: PointerEvent) => {
    if (event.pointerType === "mouse" || !event.isPrimary) return;
    drag.current = { id: event.pointerId, x: event.clientX, y: event.clientY, moving: false };
  };
  const move = (event: PointerEvent) => {
    const start = drag.current;
    if (start === null || event.pointerId !== start.id) return;
    const [x, y] = [event.clientX - start.x, event.clientY - start.y];
    const scrolling = !start.moving && Math.abs(y) > MIN_MOVEMENT && Math.abs(y) > Math.abs(x);
    if (isZoomed() || scrolling) stop();
    else if (start.moving || Math.abs(x) > MIN_MOVEMENT) {
      start.moving = true;
      setDx(x);
    }
  };
  const up = (event: PointerEvent) => {
    const start = drag.current;
    if (start?.moving && event.pointerId === start.id) {
      const x = event.clientX - start.x;
      if (Math.abs(x) >= distance) choose((x > 0 ? choices.right : choices.left).value);
    }
    stop();
  };
  return (
    <div
      ref={box}
      class={dx === 0 ? "swipe swipeable" : "swipe swipeable dragged"}
      style={{ "--dx": `${dx}px` }}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={stop}
    >
      {children}
      {dx !== 0 && (
        <div class={dx > 0 ? "swipe-label right" : "swipe-label left"} aria-hidden="true">
          <span class={progress === 1 ? "sure" : ""} style={{ opacity: 0.35 + 0.65 * progress }}>
            {(dx > 0 ? choices.right : choices.left).label}
          </span>
        </div>
      )}
    </div>
  );
}
