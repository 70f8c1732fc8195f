/** A modal dialog that closes with Escape, its button, or a click beside it. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  close: () => void;
  /** As large as the screen. */
  wide?: boolean;
  children: ComponentChildren;
}

export function Dialog({ title, close, wide = false, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const head = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    element.current?.showModal();
    // Not the button that closes: return must send what is marked, not throw it away.
    head.current?.focus();
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? "wide" : undefined}
      aria-label={title}
      onClose={close}
      onClick={(event) => event.target === element.current && close()}
    >
      <div class="dialog-head">
        <h2 ref={head} tabIndex={-1}>
          {title}
        </h2>
        <button type="button" class="quiet" onClick={close} aria-label="Close">
          ✕
        </button>
      </div>
      {children}
    </dialog>
  );
}
