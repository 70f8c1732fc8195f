/** The address bar as state: a path, the orientation in `?session=`, the collection in `?pile=`. */

import { useEffect, useState } from "preact/hooks";

export interface Route {
  path: string;
  session: string | null;
  /** Omitted: the collection of this page. `null`: the one that the server was started with. */
  pile?: string | null;
}

/** The collection that the address names; `null`: the one that the server was started with. */
export function currentPile(): string | null {
  return new URLSearchParams(location.search).get("pile");
}

export function currentRoute(): Route {
  return {
    path: location.pathname.replace(/\/+$/, "") || "/",
    session: new URLSearchParams(location.search).get("session"),
    pile: currentPile(),
  };
}

export function href(route: Route): string {
  const pile = route.pile === undefined ? currentPile() : route.pile;
  const query = Object.entries({ session: route.session, pile })
    .filter((entry): entry is [string, string] => entry[1] !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return query.length > 0 ? `${route.path}?${query.join("&")}` : route.path;
}

/** Go to a route; `hash` selects something within it. */
export function navigate(route: Route, hash = ""): void {
  history.pushState(null, "", href(route) + hash);
  dispatchEvent(new PopStateEvent("popstate"));
}

/** Whether a click on a link stays in this tab, so that the page can handle it. */
export function isPlainClick(event: MouseEvent): boolean {
  return !(event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0);
}

export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    const update = () => setRoute(currentRoute());
    addEventListener("popstate", update);
    return () => removeEventListener("popstate", update);
  }, []);
  return route;
}
