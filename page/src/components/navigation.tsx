/** Links to all views: side by side, and on a phone the most used ones and a menu with all others. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Link } from "./link";
import "./navigation.css";
import { usePhone } from "./use-phone";

export type View = [path: string, label: string];

/** Views that have a place of their own on a phone. */
const ON_PHONE = new Set(["/", "/groups", "/map", "/finish"]);

/** Whether a link leads to the view at a path. */
export function isCurrent(to: string, path: string): boolean {
  if (to === "/") return path === "/";
  return path.startsWith(to) || (to === "/groupings" && ["/compare", "/orientations"].includes(path));
}

export function Navigation({ views, path }: { views: View[]; path: string }) {
  const isPhone = usePhone();
  const link = ([to, label]: View) => (
    <Link key={to} to={to} current={isCurrent(to, path)}>
      {label}
    </Link>
  );
  if (!isPhone) return <nav aria-label="Views">{views.map(link)}</nav>;
  const others = views.filter(([to]) => !ON_PHONE.has(to));
  return (
    <nav aria-label="Views">
      {views.filter(([to]) => ON_PHONE.has(to)).map(link)}
      <MoreViews key={path} current={others.find(([to]) => isCurrent(to, path))?.[1]}>
        {others.map(link)}
      </MoreViews>
    </nav>
  );
}

function MoreViews({ current, children }: { current: string | undefined; children: preact.ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // Before the menu is seen: whoever sees it can close it.
    if (!open) return;
    const close = (event: Event) => {
      if (event instanceof KeyboardEvent ? event.key === "Escape" : !menu.current?.contains(event.target as Node)) {
        setOpen(false);
      }
    };
    addEventListener("pointerdown", close);
    addEventListener("keydown", close);
    return () => {
      removeEventListener("pointerdown", close);
      removeEventListener("keydown", close);
    };
  }, [open]);
  return (
    <div class="more-views" ref={menu}>
      <button
        type="button"
        class={`quiet ${current === undefined ? "" : "current"}`}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {current ?? "More"} ▾
      </button>
      {open && <div class="views-menu">{children}</div>}
    </div>
  );
}
