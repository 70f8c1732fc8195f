/** What the last act did, with Undo; it stays until the next act or until it is closed. */

import { useKeys } from "../keys";
import { Keys } from "../questions/button";
import type { Acts } from "./acts";
import { isPlain, isTaken } from "./busy";

export function Message({ acts }: { acts: Acts }) {
  const { said, busy } = acts;
  const back = said?.number != null;
  useKeys((event) => {
    if (event.key !== "z" || !back || !isPlain(event) || isTaken(event.target, event.key)) return;
    event.preventDefault();
    void acts.undo();
  });
  return (
    <div class="said-place" role="status" aria-live="polite">
      {said && (
        <div class={`said ${said.tone}`}>
          <p>{said.text}</p>
          {back && (
            <button type="button" disabled={busy} onClick={() => void acts.undo()}>
              <Keys keys={["z"]} /> Undo
            </button>
          )}
          <button type="button" class="quiet" aria-label="Close this message" onClick={acts.close}>
            ✕
          </button>
        </div>
      )}
    </div>
  );
}
