/** The address bar as state: a path, and the orientation in `?session=`. */

import { useEffect, useState } from "preact/hooks";

export interface Place {
  path: string;
  session: string | null;
}

export function here(): Place {
  return {
    path: location.pathname.replace(/\/+$/, "") || "/",
    session: new URLSearchParams(location.search).get("session"),
  };
}

export function address(place: Place): string {
  const query = place.session === null ? "" : `?session=${encodeURIComponent(place.session)}`;
  return place.path + query;
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
