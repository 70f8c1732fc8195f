/** All groups as of now; read again when they are refreshed. */

import { useCallback, useEffect, useState } from "preact/hooks";
import type { ActsApi, GroupCard } from "../acts-api";
import { Fault } from "../api";
import type { Desk } from "../desk";
import { slotsOf } from "../map/colours";

export interface GroupsNow {
  groups: GroupCard[] | null;
  fault: Fault | null;
  load: () => void;
}

export function useGroups(desk: Desk, api: ActsApi): GroupsNow {
  const [groups, setGroups] = useState<GroupCard[] | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const snapshot = desk.now?.progress.snapshot;
  const load = useCallback(() => {
    api.groups().then(
      (list) => {
        slotsOf(desk.api).settle(list.groups.map((group) => group.number));
        setGroups(list.groups);
        setFault(null);
      },
      (problem: Fault) => setFault(problem),
    );
  }, [api, desk.api]);
  useEffect(load, [load, snapshot]);
  return { groups, fault, load };
}
