/** What can be done with the map, with its keys. */

import type { RefObject } from "preact";
import { Keys } from "../questions/button";
import type { Scatter } from "./scatter";

interface Props {
  mode: "pan" | "lasso";
  setMode: (mode: "pan" | "lasso") => void;
  scatter: RefObject<Scatter>;
  circle: () => void;
}

export function Tools({ mode, setMode, scatter, circle }: Props) {
  const lasso = mode === "lasso";
  const zoom = (factor: number) => scatter.current?.zoom(factor);
  return (
    <div class="map-tools" role="toolbar" aria-label="Map">
      <button
        type="button"
        aria-pressed={lasso}
        aria-keyshortcuts="l"
        title="Draw a loop around items that are one kind (or hold shift and drag)"
        onClick={() => setMode(lasso ? "pan" : "lasso")}
      >
        <Keys keys={["l"]} /> Lasso
      </button>
      <button
        type="button"
        class="take-middle"
        aria-keyshortcuts="c"
        title="Take what lies in the middle of the map"
        onClick={circle}
      >
        <Keys keys={["c"]} /> Take the middle
      </button>
      <span class="zooms">
        <button type="button" aria-label="Zoom in" aria-keyshortcuts="+" onClick={() => zoom(1.4)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" aria-keyshortcuts="-" onClick={() => zoom(1 / 1.4)}>
          −
        </button>
        <button
          type="button"
          aria-keyshortcuts="0"
          title="See all items"
          onClick={() => scatter.current?.look(null)}
        >
          <Keys keys={["0"]} /> All
        </button>
      </span>
      <p id="map-keys" class="unseen-text">
        Arrow keys move the map, plus and minus zoom, 0 shows all, C takes what lies in the middle, L
        switches the lasso on or off. The list of groups beside the map shows one group at a time.
      </p>
    </div>
  );
}
