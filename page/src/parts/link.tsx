/** A link within the page; the orientation stays in the address. */

import type { ComponentChildren } from "preact";
import { address, go, here, type Place } from "../router";

interface Props {
  to: string;
  session?: string | null;
  current?: boolean;
  className?: string;
  children: ComponentChildren;
}

export function Link({ to, session, current = false, className = "", children }: Props) {
  const place: Place = { path: to, session: session === undefined ? here().session : session };
  return (
    <a
      href={address(place)}
      class={className}
      aria-current={current ? "page" : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(place);
      }}
    >
      {children}
    </a>
  );
}
