/** The orientations over this collection, and what is known about the collection itself. */

import { useState } from "preact/hooks";
import { Fault } from "../api";
import type { Desk } from "../desk";
import { Link } from "../parts/link";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { go } from "../router";

export function Orientations({ desk }: { desk: Desk }) {
  const [name, setName] = useState("");
  const [fault, setFault] = useState<Fault | null>(null);
  const [beginning, setBeginning] = useState(false);
  const about = desk.about;

  const begin = () => {
    setBeginning(true);
    desk.api
      .begin(name.trim())
      .then(
        (session) => go({ path: "/", session: session.session }),
        (problem: Fault) => setFault(problem),
      )
      .finally(() => setBeginning(false));
  };

  if (!about) return <main class="orientations" />;
  return (
    <main class="orientations">
      <h1>Orientations</h1>
      <p class="why">
        The same pile can be sorted in several ways: by colour, by shape, by what it means to you. Each
        orientation has its own questions, answers and groups.
      </p>
      <ul class="orientation-list">
        {about.orientations.map((one) => (
          <li key={one}>
            <Link to="/" session={one} className="button" current={one === about.session}>
              {one}
            </Link>
            {one === about.session && <span class="quiet-text">you are here</span>}
          </li>
        ))}
      </ul>
      <form
        class="begin"
        onSubmit={(event) => {
          event.preventDefault();
          begin();
        }}
      >
        <label>
          New orientation
          <input
            value={name}
            maxLength={64}
            placeholder="by shape"
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={name.trim() === "" || beginning}>
          {beginning ? "Beginning …" : "Begin"}
        </button>
      </form>
      {fault && (
        <Notice tone="warning">
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      <h2>Collection</h2>
      <p>
        {about.collection}: {count(about.items, "item")}.{" "}
        {about.gone.length > 0 &&
          `${count(about.gone.length, "item")} of earlier questions are not there any more; the answers are kept. `}
        samekind {about.version}. Nothing leaves this machine.
      </p>
      {about.skipped_total > 0 && (
        <details>
          <summary>{count(about.skipped_total, "file")} left out</summary>
          <ul class="skipped">
            {about.skipped.map((one) => (
              <li key={one.id}>
                <code>{one.id}</code> {one.reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </main>
  );
}
