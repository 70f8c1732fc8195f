/** Assign other keys. A key that is already in use on the same screen is rejected. */

import { useState } from "preact/hooks";
import { Dialog } from "../../components/dialog";
import { Keys } from "../../components/keys";
import { keysOf, type Scope, type Slot, slotLabel, slots, useShortcuts } from "../../keyboard/bindings";
import { normalise, useKeys } from "../../keyboard/keys";
import "./shortcuts.css";

const SECTIONS: [Scope[], string][] = [
  [["pair"], "Same kind?"],
  [["groups"], "Which group?"],
  [["marks"], "Many items at once"],
  [["always", "acts"], "Everywhere"],
];

export function ShortcutSettings({ close }: { close: () => void }) {
  const { bindings, assign, reset } = useShortcuts();
  const [waiting, setWaiting] = useState<Slot | null>(null);
  const [conflict, setConflict] = useState("");
  const stopWaiting = () => {
    setWaiting(null);
    setConflict("");
  };

  useKeys((event) => {
    if (waiting === null || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
    // Return, space and Escape belong to the waiting row, not to the button or the dialog.
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") return stopWaiting();
    const problem = assign(waiting, normalise(event.key));
    setConflict(problem);
    if (problem === "") setWaiting(null);
  });

  return (
    <Dialog title="Customise shortcuts" close={close}>
      <p class="muted">Saved in this browser. The terminal has its own shortcuts.</p>
      <p class="key-conflict" role="alert">
        {conflict}
      </p>
      <div class="shortcuts">
        {SECTIONS.map(([scopes, title]) => (
          <section key={title}>
            <h3>{title}</h3>
            {slots()
              .filter(([slot]) => scopes.includes(slot.split(":")[0] as Scope))
              .map(([slot, defaults]) => (
                <button
                  key={slot}
                  type="button"
                  class={waiting === slot ? "shortcut waiting" : "shortcut"}
                  aria-label={`${slotLabel(slot)}: ${keysOf(bindings, slot, defaults).join(", ")}. Change`}
                  onClick={() => {
                    setConflict("");
                    setWaiting(waiting === slot ? null : slot);
                  }}
                >
                  <span>{slotLabel(slot)}</span>
                  {waiting === slot ? (
                    <span class="press-a-key">Press a key…</span>
                  ) : (
                    <Keys keys={keysOf(bindings, slot, defaults)} />
                  )}
                </button>
              ))}
          </section>
        ))}
      </div>
      <div class="dialog-foot">
        <button
          type="button"
          onClick={() => {
            reset();
            stopWaiting();
          }}
        >
          Reset to defaults
        </button>
        <button type="button" onClick={close}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
