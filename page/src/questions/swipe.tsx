/** On a phone: swipe right for the same kind, left for different. Others are tapped. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Choice, Question } from "../api";
import { zoomed } from "../items/zoom";

/** Pixels from which on a movement is a swipe. */
const BEGIN = 12;

export interface Ways {
  left: Choice;
  right: Choice;
}

/** What the two directions mean; null where nothing is swiped. */
export function ways(question: Question | null): Ways | null {
  const of = (value: string) => question?.choices.find((one) => one.value === value);
  const [left, right] = [of("different"), of("same")];
  return left && right ? { left, right } : null;
}

/** How far a finger has to go: a good quarter of the screen, and no more than a thumb reaches. */
export function reach(width: number): number {
  return Math.min(130, Math.max(70, width * 0.28));
}

interface Drag {
  id: number;
  x: number;
  y: number;
  moving: boolean;
}

interface Props {
  question: Question;
  choose: (value: string) => void;
  children: ComponentChildren;
}

export function Swipe({ question, choose, children }: Props) {
  const found = ways(question);
  const drag = useRef<Drag | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const [dx, setDx] = useState(0);
  const stop = () => {
    drag.current = null;
    setDx(0);
  };
  useLayoutEffect(stop, [question.number]);
  if (found === null) return <div class="swipe">{children}</div>;

  const far = reach(box.current?.clientWidth ?? 390);
  const sure = Math.min(1, Math.abs(dx) / far);
  const down = (event: PointerEvent) => {
    if (event.pointerType === "mouse" || !event.isPrimary) return;
    drag.current = { id: event.pointerId, x: event.clientX, y: event.clientY, moving: false };
  };
  const move = (event: PointerEvent) => {
    const from = drag.current;
    if (from === null || event.pointerId !== from.id) return;
    const [x, y] = [event.clientX - from.x, event.clientY - from.y];
    if (zoomed() || (!from.moving && Math.abs(y) > BEGIN && Math.abs(y) > Math.abs(x))) stop();
    else if (from.moving || Math.abs(x) > BEGIN) {
      from.moving = true;
      setDx(x);
    }
  };
  const up = (event: PointerEvent) => {
    const from = drag.current;
    if (from?.moving && event.pointerId === from.id) {
      const x = event.clientX - from.x;
      if (Math.abs(x) >= far) choose((x > 0 ? found.right : found.left).value);
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
        <div class={dx > 0 ? "swipe-says right" : "swipe-says left"} aria-hidden="true">
          <span class={sure === 1 ? "sure" : ""} style={{ opacity: 0.35 + 0.65 * sure }}>
            {(dx > 0 ? found.right : found.left).label}
          </span>
        </div>
      )}
    </div>
  );
}
