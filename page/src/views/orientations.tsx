/** The orientations over this collection, and what is known about the collection itself. */

import { useEffect, useState } from "preact/hooks";
import { Fault } from "../api";
import type { Desk } from "../desk";
import { Link } from "../parts/link";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { type OrientationInfo, ProgressApi } from "../progress-api";
import { go } from "../router";
import "../style/compare.css";

/** How far an orientation is, in words. */
function known(one: OrientationInfo | undefined): string {
  if (one === undefined) return "";
  const told = count(one.answers, "answer");
  if (one.latest === null) return told;
  const day = new Date(one.latest * 1000).toLocaleDateString("en", { day: "numeric", month: "short" });
  return `${told} · last used ${day}`;
}

export function Orientations({ desk }: { desk: Desk }) {
  const [name, setName] = useState("");
  const [fault, setFault] = useState<Fault | null>(null);
  const [beginning, setBeginning] = useState(false);
  const [infos, setInfos] = useState<OrientationInfo[]>([]);
  const about = desk.about;
  useEffect(() => {
    let wanted = true;
    // Without it the list has the names only.
    new ProgressApi(desk.api).orientations().then(
      (found) => wanted && setInfos(found),
      () => undefined,
    );
    return () => void (wanted = false);
  }, [desk.api]);

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
            <span class="quiet-text about">
              {one === about.session && "you are here · "}
              {known(infos.find((info) => info.name === one))}
            </span>
          </li>
        ))}
      </ul>
      {about.orientations.length > 1 && (
        <p>
          <Link to="/compare" className="button">
            Compare two side by side
          </Link>
        </p>
      )}
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
