/** Give the controls other keys; a key that means something else at the same time is refused. */

import { useState } from "preact/hooks";
import { keysOf, type Room, type Slot, slots, useBindings, words } from "../bindings";
import { useKeys } from "../keys";
import { Keys } from "../questions/button";
import { Dialog } from "./dialog";

const ROOMS: [Room[], string][] = [
  [["pair"], "The same kind?"],
  [["groups"], "Which group?"],
  [["marks"], "Which do not belong?"],
  [["always", "acts"], "Always"],
];

export function OwnKeys({ close }: { close: () => void }) {
  const { bindings, set, reset } = useBindings();
  const [waiting, setWaiting] = useState<Slot | null>(null);
  const [why, setWhy] = useState("");

  useKeys((event) => {
    if (waiting === null || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
    // Return, space and Escape belong to the row that waits, not to the button or the dialog.
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") {
      setWaiting(null);
      setWhy("");
      return;
    }
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const refused = set(waiting, key);
    setWhy(refused);
    if (refused === "") setWaiting(null);
  });

  return (
    <Dialog title="Your keys" close={close}>
      <p class="quiet-text">They are kept in this browser. The terminal keeps its own.</p>
      <p class="refused" role="alert">
        {why}
      </p>
      <div class="own-keys">
        {ROOMS.map(([rooms, title]) => (
          <section key={title}>
            <h3>{title}</h3>
            {slots()
              .filter(([slot]) => rooms.includes(slot.split(":")[0] as Room))
              .map(([slot, own]) => (
                <button
                  key={slot}
                  type="button"
                  class={waiting === slot ? "own-key waiting" : "own-key"}
                  aria-label={`${words(slot)}: ${keysOf(bindings, slot, own).join(", ")}. Change`}
                  onClick={() => {
                    setWhy("");
                    setWaiting(waiting === slot ? null : slot);
                  }}
                >
                  <span>{words(slot)}</span>
                  {waiting === slot ? (
                    <span class="press">press a key</span>
                  ) : (
                    <Keys keys={keysOf(bindings, slot, own)} />
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
            setWhy("");
            setWaiting(null);
          }}
        >
          All as they were
        </button>
        <button type="button" onClick={close}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
