/** Finish: polish the groups, and take them home. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Fault } from "../api";
import type { Desk } from "../desk";
import { Export } from "../finish/export";
import { Polish } from "../finish/polish";
import { FinishApi, type FinishInfo } from "../jobs-api";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";

export function Finish({ desk }: { desk: Desk }) {
  const api = useMemo(() => new FinishApi(desk.api), [desk.api]);
  const [about, setAbout] = useState<FinishInfo | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const load = () => {
    api.about().then(setAbout, (problem: Fault) => setFault(problem));
  };
  useEffect(load, [api, desk.now?.progress.snapshot]);
  const progress = desk.now?.progress;
  return (
    <main class="finish">
      <h1>Take it home</h1>
      {progress && desk.about && (
        <p class="why">
          {count(desk.about.items, "item")} in {count(progress.groups, "group")}, from{" "}
          {count(progress.answers, "answer")}. {progress.quality}
        </p>
      )}
      {fault && (
        <Notice tone="warning" act={{ label: "Try again", go: load }}>
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      <div class="finish-columns">
        {about && <Export desk={desk} api={api} about={about} refresh={load} />}
        <Polish desk={desk} api={api} />
      </div>
    </main>
  );
}
