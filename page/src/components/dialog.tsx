/** A modal dialog that closes with Escape, its button, or a click outside. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import "./dialog.css";

interface Props {
  title: string;
  close: () => void;
  /** As large as the screen. */
  wide?: boolean;
  children: ComponentChildren;
}

export function Dialog({ title, close, wide = false, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    // Not the close button: Return must submit what is marked, not discard it.
    heading.current?.focus();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? "wide" : undefined}
      aria-label={title}
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div class="dialog-head">
        <h2 ref={heading} tabIndex={-1}>
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
