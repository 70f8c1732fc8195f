/** What lies above the points of the map. */

import { expect, test } from "vitest";
import { fit } from "../src/views/map/camera";
import { groupCentres, MAX_THUMBNAILS, MIN_THUMBNAIL_ZOOM, pointsInSight } from "../src/views/map/overlay";
import type { MapData } from "../src/views/map/use-map";

function mapOf(xy: number[], group: number[], n_groups: number): MapData {
  const groups = Array.from({ length: n_groups }, (_, k) => ({ number: k + 1, name: `Group ${k + 1}`, size: 1 }));
  const points = { n: group.length, xy: Float32Array.from(xy), group: Uint16Array.from(group) };
  return { info: { groups }, points } as unknown as MapData;
}

const size = { width: 400, height: 400 };

test("a name stands in the middle of its group, whatever its outliers", () => {
  const map = mapOf([0, 0, 0.2, 0.2, 0.1, 1], [0, 0, 0], 2);
  const [first, second] = groupCentres(map);
  expect(first?.map((value) => Number(value.toFixed(2)))).toEqual([0.1, 0.2]);
  expect(second).toBeNull();
});

test("pictures appear from a zoom level on, for the points in sight", () => {
  const map = mapOf([0, 0, 0.9, 0.9], [0, 0], 1);
  const whole = fit(size);
  expect(pointsInSight(map, { camera: whole, size })).toBeNull();
  const near = { ...whole, scale: whole.scale * MIN_THUMBNAIL_ZOOM };
  expect(pointsInSight(map, { camera: near, size })).toEqual([0]);
});

test("no pictures are shown where too many would lie on each other", () => {
  const n = MAX_THUMBNAILS + 1;
  const map = mapOf(Array(2 * n).fill(0), Array(n).fill(0), 1);
  const whole = fit(size);
  expect(pointsInSight(map, { camera: { ...whole, scale: whole.scale * 4 }, size })).toBeNull();
});
