/** All groups, read again when they are updated. */

import type { GroupCard } from "../../api/schema";
import { type Resource, useResource } from "../../api/use-resource";
import { slotsFor } from "../../components/group-colours";
import type { Workspace } from "../../workspace/use-workspace";

/** Key words of texts, or ranges of columns, by the number of the group. Pictures have none. */
export function useGroupWords({ client, now, session }: Workspace): ReadonlyMap<number, string[]> {
  const described = session?.kind === "text" || session?.kind === "row";
  const { data } = useResource(
    described ? (signal) => client.get("/api/groups/words", { signal }) : null,
    [client, described],
    { refreshOn: [now?.progress.snapshot] },
  );
  return new Map(data?.groups.map(({ number, words }) => [number, words]));
}

export function useGroups({ client, now }: Workspace): Resource<GroupCard[]> {
  return useResource(
    async (signal) => {
      const { groups } = await client.get("/api/groups", { signal });
      slotsFor(client).assign(groups);
      return groups;
    },
    [client],
    { refreshOn: [now?.progress.snapshot] },
  );
}
