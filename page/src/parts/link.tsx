/** A link within the page; the orientation stays in the address. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { address, go, here, type Place } from "../router";

interface Props {
  to: string;
  session?: string | null;
  current?: boolean;
  className?: string;
  title?: string;
  children: ComponentChildren;
}

export function Link({ to, session, current = false, className = "", title, children }: Props) {
  const element = useRef<HTMLAnchorElement>(null);
  // A navigation that is wider than a phone shows where one is.
  useEffect(() => {
    const found = element.current;
    if (current && found?.closest("nav")) found.scrollIntoView?.({ block: "nearest", inline: "center" });
  }, [current]);
  const place: Place = { path: to, session: session === undefined ? here().session : session };
  return (
    <a
      ref={element}
      href={address(place)}
      class={className}
      title={title}
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
