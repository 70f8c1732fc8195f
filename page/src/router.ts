/** The address bar as state: a path, the orientation in `?session=`, the pile in `?pile=`. */

import { useEffect, useState } from "preact/hooks";
import { pileHere } from "./start/pile";

export interface Place {
  path: string;
  session: string | null;
  /** Left out: the pile of this page; null: the one that the server was started with. */
  pile?: string | null;
}

export function here(): Place {
  return {
    path: location.pathname.replace(/\/+$/, "") || "/",
    session: new URLSearchParams(location.search).get("session"),
    pile: pileHere(),
  };
}

export function address(place: Place): string {
  const pile = place.pile === undefined ? pileHere() : place.pile;
  const query = Object.entries({ session: place.session, pile })
    .filter((entry): entry is [string, string] => entry[1] !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return query.length > 0 ? `${place.path}?${query.join("&")}` : place.path;
}

export function go(place: Place): void {
  history.pushState(null, "", address(place));
  dispatchEvent(new PopStateEvent("popstate"));
}

export function usePlace(): Place {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const follow = () => setPlace(here());
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);
  return place;
}
