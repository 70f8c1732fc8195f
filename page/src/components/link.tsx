/** A link within the page. It keeps the orientation in the address. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { currentRoute, href, isPlainClick, navigate, type Route } from "../router";

interface Props {
  to: string;
  session?: string | null;
  hash?: string;
  current?: boolean;
  className?: string;
  title?: string;
  label?: string;
  children: ComponentChildren;
}

export function Link({ to, session, hash = "", current = false, className = "", title, label, children }: Props) {
  const anchor = useRef<HTMLAnchorElement>(null);
  // A navigation bar wider than the screen scrolls to the current view.
  useEffect(() => {
    if (current && anchor.current?.closest("nav")) {
      anchor.current.scrollIntoView?.({ block: "nearest", inline: "center" });
    }
  }, [current]);
  const route: Route = { path: to, session: session === undefined ? currentRoute().session : session };
  return (
    <a
      ref={anchor}
      href={href(route) + hash}
      class={className}
      title={title}
      aria-label={label}
      aria-current={current ? "page" : undefined}
      onClick={(event) => {
        if (!isPlainClick(event)) return;
        event.preventDefault();
        navigate(route, hash);
      }}
    >
      {children}
    </a>
  );
}
