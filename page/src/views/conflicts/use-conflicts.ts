/** Contradictions and surprising answers, read again after each change. */

import type { ContradictionView, OddAnswerView } from "../../api/schema";
import { type Resource, useResource } from "../../api/use-resource";
import type { Workspace } from "../../workspace/use-workspace";

export interface Conflicts {
  contradictions: ContradictionView[];
  odd: OddAnswerView[];
}

export function useConflicts({ client, recent, now }: Workspace): Resource<Conflicts> {
  return useResource(
    async (signal) => {
      const [{ conflicts: contradictions }, { odd }] = await Promise.all([
        client.get("/api/conflicts", { signal }),
        client.get("/api/odd", { signal }),
      ]);
      return { contradictions, odd };
    },
    [client],
    { refreshOn: [recent, now?.progress.snapshot] },
  );
}
