/** The map is fetched when it is first looked at: answering questions does not wait for it. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Desk } from "../desk";

type View = ComponentType<{ desk: Desk }>;

let fetched: View | null = null;

export function MapView({ desk }: { desk: Desk }) {
  const [View, setView] = useState<View | null>(() => fetched);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (fetched) return;
    import("../views/map").then(
      (found) => {
        fetched = found.MapOfItems;
        setView(() => found.MapOfItems);
      },
      () => setFailed(true),
    );
  }, []);
  if (View) return <View desk={desk} />;
  return (
    <main class="map">
      <h1>Map</h1>
      <p class="why">{failed ? "The map could not be fetched. Reload the page." : "…"}</p>
    </main>
  );
}
