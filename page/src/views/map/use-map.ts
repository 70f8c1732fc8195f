/** The current map: its groups, and the points of its latest layout. */

import { ApiError, type Client } from "../../api/client";
import type { MapView } from "../../api/schema";
import { type Resource, useResource } from "../../api/use-resource";
import { slotsFor } from "../../components/group-colours";
import type { Workspace } from "../../workspace/use-workspace";
import { decode, type Points } from "./points";

const FALLBACK_POLL_MS = 4000;
/** The error type of a version that has been replaced. */
const REPLACED = "unknown-map";

export interface MapData {
  info: MapView;
  points: Points;
}

/** Read the map. What has not changed since `before` is not read again. */
async function readMap(client: Client, before: MapData | null, signal: AbortSignal): Promise<MapData> {
  const info = await client.get("/api/map", { signal });
  if (JSON.stringify(before?.info) === JSON.stringify(info)) return before as MapData;
  slotsFor(client).assign(info.groups);
  // The points of a version never change; the names and sizes of its groups do.
  if (before?.info.version === info.version) return { info, points: before.points };
  const { version } = info;
  const bytes = await client
    .bytes("/api/map/points", { query: { version }, signal })
    .catch((error: ApiError) => {
      if (error.type === REPLACED) return null;
      throw error;
    });
  if (bytes === null) return readMap(client, before, signal);
  const points = decode(bytes, info.n);
  if (points === null) throw new ApiError(500, "The points of the map could not be read.");
  return { info, points };
}

export function useMap({ client, now }: Workspace): Resource<MapData> {
  const map: Resource<MapData> = useResource((signal) => readMap(client, map.data, signal), [client], {
    refreshOn: [now?.progress.snapshot],
    events: { url: client.eventsUrl, kinds: ["map"], fallbackMs: FALLBACK_POLL_MS },
  });
  return map;
}
