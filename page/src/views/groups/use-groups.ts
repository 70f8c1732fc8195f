/** All groups, read again when they are updated. */

import type { GroupCard } from "../../api/schema";
import { type Resource, useResource } from "../../api/use-resource";
import { slotsFor } from "../../components/group-colours";
import type { Workspace } from "../../workspace/use-workspace";

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
