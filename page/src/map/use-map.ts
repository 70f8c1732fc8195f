/** The map as it is now: its groups, and the points of its latest layout. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ActsApi, type MapInfo } from "../acts-api";
import { Fault } from "../api";
import type { Desk } from "../desk";
import { follow } from "../events";
import { slotsOf } from "./colours";
import { decode, type Points } from "./points";

/** Seconds between two questions while the server does not tell by itself. */
const EVERY = 4;

export interface Mapped {
  info: MapInfo;
  points: Points;
}

/** The server's name for a version that there is not any more. */
const GONE = "unknown-map";

const alike = (a: MapInfo | undefined, b: MapInfo) => JSON.stringify(a) === JSON.stringify(b);

export interface MapNow {
  mapped: Mapped | null;
  fault: Fault | null;
  load: () => void;
}

export function useMap(desk: Desk, api: ActsApi): MapNow {
  const [mapped, setMapped] = useState<Mapped | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const turn = useRef(0);
  const had = useRef<Mapped | null>(null);
  const snapshot = desk.now?.progress.snapshot;

  const load = useCallback(async () => {
    const mine = ++turn.current;
    try {
      const info = await api.map();
      const before = had.current;
      if (mine !== turn.current || alike(before?.info, info)) return;
      // The points of a version never change; the names and sizes of its groups do.
      const same = before?.info.version === info.version;
      const points = same ? before.points : decode(await api.mapPoints(info.version), info.n);
      if (mine !== turn.current) return; // a later look is under way and knows more
      if (points === null) throw new Fault(500, "The points of the map could not be read.");
      had.current = { info, points };
      slotsOf(desk.api).settle(info.groups.map((group) => group.number));
      setMapped(had.current);
      setFault(null);
    } catch (problem) {
      if (mine !== turn.current) return;
      // Drawn anew between the two questions: there is a later version to look at.
      if (problem instanceof Fault && problem.type === GONE) void load();
      else setFault(problem instanceof Fault ? problem : new Fault(0, String(problem)));
    }
  }, [api, desk.api]);

  useEffect(() => void load(), [load, snapshot]);
  useEffect(() => {
    let told = false;
    const ask = setInterval(() => !told && !document.hidden && void load(), EVERY * 1000);
    const leave = follow(
      desk.api.path("events"),
      ({ kind }) => kind === "map" && void load(),
      (live) => (told = live),
    );
    return () => {
      clearInterval(ask);
      leave();
    };
  }, [desk.api, load]);
  return { mapped, fault, load: () => void load() };
}
