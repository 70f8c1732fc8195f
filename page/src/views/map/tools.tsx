/** The tools of the map, with their keys. */

import type { RefObject } from "preact";
import { Keys } from "../../components/keys";
import type { DragMode, Scatter } from "./scatter";

export const ZOOM_STEP = 1.4;

interface Props {
  mode: DragMode;
  setMode: (mode: DragMode) => void;
  scatter: RefObject<Scatter>;
  selectCentre: () => void;
}

export function Tools({ mode, setMode, scatter, selectCentre }: Props) {
  const lasso = mode === "lasso";
  const zoom = (factor: number) => scatter.current?.zoom(factor);
  return (
    <div class="map-tools" role="toolbar" aria-label="Map">
      <button
        type="button"
        aria-pressed={lasso}
        aria-keyshortcuts="l"
        title="Draw a loop around items of the same kind, or hold Shift and drag"
        onClick={() => setMode(lasso ? "pan" : "lasso")}
      >
        <Keys keys={["l"]} /> Lasso
      </button>
      <button
        type="button"
        class="select-centre"
        aria-keyshortcuts="c"
        title="Select the items in the middle of the map"
        onClick={selectCentre}
      >
        <Keys keys={["c"]} /> Select centre
      </button>
      <span class="zoom-tools">
        <button type="button" aria-label="Zoom in" aria-keyshortcuts="+" onClick={() => zoom(ZOOM_STEP)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" aria-keyshortcuts="-" onClick={() => zoom(1 / ZOOM_STEP)}>
          −
        </button>
        <button
          type="button"
          aria-keyshortcuts="0"
          title="Show all items"
          onClick={() => scatter.current?.flyTo(null)}
        >
          <Keys keys={["0"]} /> All
        </button>
      </span>
      <p id="map-keys" class="visually-hidden">
        Arrow keys move the map, plus and minus zoom, 0 shows everything, C selects the items in the middle, L
        turns the lasso on or off, the menu key opens the menu of the item in the middle. The list of groups beside the map highlights one group at a time.
      </p>
    </div>
  );
}
