/** What lies above the points: the names of groups, and small pictures once few enough are in sight. */

import { useMemo } from "preact/hooks";
import type { Client } from "../../api/client";
import { Item } from "../../components/item";
import type { Size } from "../../components/use-size";
import { type Camera, fit, toScreen } from "./camera";
import { useItems } from "./item-cache";
import type { MapData } from "./use-map";
import "./overlay.css";

/** Groups whose names are shown, the largest first. */
const MAX_LABELS = 24;
/** Pictures replace points if the map is zoomed in so far, and no more items than this are in sight. */
export const MIN_THUMBNAIL_ZOOM = 2.5;
export const MAX_THUMBNAILS = 60;
/** Labels that are nearer to each other than this, in pixels, would be unreadable. */
const LABEL_DISTANCE = { x: 90, y: 22 };

export interface View {
  camera: Camera;
  size: Size;
}

/** The middle of each group: the medians of its points along both axes. */
export function groupCentres({ points, info }: MapData): ([number, number] | null)[] {
  const members: [number[], number[]][] = info.groups.map(() => [[], []]);
  points.group.forEach((group, k) => {
    members[group]?.[0].push(points.xy[2 * k] ?? 0);
    members[group]?.[1].push(points.xy[2 * k + 1] ?? 0);
  });
  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
  return members.map(([x, y]) => (x.length > 0 ? [median(x), median(y)] : null));
}

/** The points in sight; `null` if they are too many or the map is not zoomed in. */
export function pointsInSight({ points }: MapData, { camera, size }: View): number[] | null {
  if (size.width === 0 || camera.scale < MIN_THUMBNAIL_ZOOM * fit(size).scale) return null;
  const [halfWidth, halfHeight] = [size.width / 2 / camera.scale, size.height / 2 / camera.scale];
  const found: number[] = [];
  for (let k = 0; k < points.n; k++) {
    const dx = Math.abs((points.xy[2 * k] ?? 0) - camera.x);
    const dy = Math.abs((points.xy[2 * k + 1] ?? 0) - camera.y);
    if (dx < halfWidth && dy < halfHeight && found.push(k) > MAX_THUMBNAILS) return null;
  }
  return found;
}

interface Props {
  client: Client;
  map: MapData;
  view: View;
  /** The points to show as pictures. */
  inSight: readonly number[];
}

export function Overlay({ client, map, view: { camera, size }, inSight }: Props) {
  const centres = useMemo(() => groupCentres(map), [map]);
  const items = useItems(client, inSight);
  const order = map.info.groups
    .map((group, k) => ({ group, centre: centres[k] }))
    .sort((a, b) => b.group.size - a.group.size)
    .slice(0, MAX_LABELS);
  const placed: [number, number][] = [];
  const labels = order.flatMap(({ group, centre }) => {
    if (!centre) return [];
    const [x, y] = toScreen(camera, size, ...centre);
    const isFree = placed.every(
      ([left, top]) => Math.abs(left - x) > LABEL_DISTANCE.x || Math.abs(top - y) > LABEL_DISTANCE.y,
    );
    if (!isFree || x < 0 || y < 0 || x > size.width || y > size.height) return [];
    placed.push([x, y]);
    return [{ group, x, y }];
  });
  return (
    <div class="map-overlay" aria-hidden="true">
      {inSight.map((point, k) => {
        const item = items[k];
        const [x, y] = toScreen(camera, size, map.points.xy[2 * point] ?? 0, map.points.xy[2 * point + 1] ?? 0);
        return (
          item && (
            <div key={point} class="map-thumbnail" style={{ left: `${x}px`, top: `${y}px` }}>
              <Item item={item} size="small" />
            </div>
          )
        );
      })}
      {labels.map(({ group, x, y }) => (
        <span key={group.number} class="map-label" style={{ left: `${x}px`, top: `${y}px` }}>
          {group.name}
        </span>
      ))}
    </div>
  );
}
