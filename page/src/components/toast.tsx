/** What the last act did, with Undo. It stays until the next act or until it is dismissed. */

import { isHandledByControl, isPlainPress, useKeys } from "../keyboard/keys";
import type { Acts } from "../workspace/use-acts";
import { Keys } from "./keys";
import "./toast.css";

export function Toast({ acts }: { acts: Acts }) {
  const { message, busy } = acts;
  const undoable = message?.undo != null;
  useKeys((event) => {
    if (event.key !== "z" || !undoable || !isPlainPress(event)) return;
    if (isHandledByControl(event.target, event.key)) return;
    event.preventDefault();
    void acts.undo();
  });
  return (
    <div class="toast-area" role="status" aria-live="polite">
      {message && (
        <div class={`toast ${message.tone}`}>
          <p>{message.text}</p>
          {undoable && (
            <button type="button" disabled={busy} onClick={() => void acts.undo()}>
              <Keys keys={["z"]} /> Undo
            </button>
          )}
          <button type="button" class="quiet" aria-label="Dismiss" onClick={acts.dismiss}>
            ✕
          </button>
        </div>
      )}
    </div>
  );
}
