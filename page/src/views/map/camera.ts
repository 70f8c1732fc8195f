/** The view onto the map: a centre in map coordinates, and pixels per unit. */

import type { Size } from "../../components/use-size";

export interface Camera {
  x: number;
  y: number;
  /** Pixels per unit of the map. */
  scale: number;
}

export type Box = readonly [left: number, bottom: number, right: number, top: number];

/** Space around the whole map, in pixels. */
const MARGIN = 24;
/** The limits of zooming, relative to the whole map. */
const MIN_ZOOM = 0.6;
const MAX_ZOOM = 400;
/** The centre stays within this distance of the middle; the points lie between -1 and 1. */
const MAX_OFFSET = 1.2;
/** The share of the screen that a group takes when it is zoomed to. */
const BOX_SHARE = 0.7;
const MIN_BOX_SIDE = 0.02;
const POINT_SIZE = { min: 2.2, max: 26, maxUnzoomed: 13 };

const clamp = (value: number, min: number, max: number) => Math.min(max, Math.max(min, value));

/** Shows all points. */
export function fit(size: Size): Camera {
  const side = Math.min(size.width, size.height) - 2 * MARGIN;
  return { x: 0, y: 0, scale: Math.max(side, 40) / 2 };
}

export function toScreen(camera: Camera, size: Size, x: number, y: number): [number, number] {
  return [
    size.width / 2 + (x - camera.x) * camera.scale,
    size.height / 2 - (y - camera.y) * camera.scale,
  ];
}

export function toMap(camera: Camera, size: Size, px: number, py: number): [number, number] {
  return [
    camera.x + (px - size.width / 2) / camera.scale,
    camera.y - (py - size.height / 2) / camera.scale,
  ];
}

/** Limit a camera so that the points stay in sight. */
function limit(camera: Camera, size: Size): Camera {
  const whole = fit(size).scale;
  return {
    x: clamp(camera.x, -MAX_OFFSET, MAX_OFFSET),
    y: clamp(camera.y, -MAX_OFFSET, MAX_OFFSET),
    scale: clamp(camera.scale, whole * MIN_ZOOM, whole * MAX_ZOOM),
  };
}

/** Zoom around a pixel, which keeps showing the same place. */
export function zoom(camera: Camera, size: Size, factor: number, px: number, py: number): Camera {
  const [x, y] = toMap(camera, size, px, py);
  const { scale } = limit({ ...camera, scale: camera.scale * factor }, size);
  return limit(
    {
      x: x - (px - size.width / 2) / scale,
      y: y + (py - size.height / 2) / scale,
      scale,
    },
    size,
  );
}

export function pan(camera: Camera, size: Size, dx: number, dy: number): Camera {
  const { scale } = camera;
  return limit({ x: camera.x - dx / scale, y: camera.y + dy / scale, scale }, size);
}

/** Shows a box of the map, such as the bounds of a group. */
export function frame(size: Size, [left, bottom, right, top]: Box): Camera {
  const scale = Math.min(
    (size.width * BOX_SHARE) / Math.max(right - left, MIN_BOX_SIDE),
    (size.height * BOX_SHARE) / Math.max(top - bottom, MIN_BOX_SIDE),
  );
  return limit({ x: (left + right) / 2, y: (bottom + top) / 2, scale }, size);
}

/** The size of a point in pixels: smaller when there are many, larger when zoomed in. */
export function pointSize(n: number, camera: Camera, size: Size): number {
  const whole = fit(size);
  const spacing = Math.sqrt((whole.scale * whole.scale) / Math.max(n, 1)) * 0.75;
  const zoomed = Math.sqrt(camera.scale / whole.scale);
  return clamp(Math.min(spacing, POINT_SIZE.maxUnzoomed) * zoomed, POINT_SIZE.min, POINT_SIZE.max);
}
