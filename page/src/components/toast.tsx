/** What the last act did, with Undo, and the question whether it may set answers aside. It stays until the next act or until it is dismissed. */

import { isHandledByControl, isPlainPress, useKeys } from "../keyboard/keys";
import type { Acts } from "../workspace/use-acts";
import { Dialog } from "./dialog";
import { Keys } from "./keys";
import "./toast.css";

export function Toast({ acts }: { acts: Acts }) {
  const { message, confirmation, busy } = acts;
  const undoable = message?.undo != null;
  useKeys((event) => {
    if (event.key !== "z" || !undoable || !isPlainPress(event)) return;
    if (isHandledByControl(event.target, event.key)) return;
    event.preventDefault();
    void acts.undo();
  });
  const area = (
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
  return (
    <>
      {area}
      {confirmation && (
        <Dialog title={confirmation.text} close={() => confirmation.decide(false)}>
          <p class="muted">
            Set-aside answers stay in your list of answers. Undo brings them back.
          </p>
          <div class="form-actions">
            <button type="button" class="primary" onClick={() => confirmation.decide(true)}>
              {confirmation.verb}
            </button>
            <button type="button" onClick={() => confirmation.decide(false)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
