import { expect, test } from "vitest";
import { fit, frame, pan, pointSize, toMap, toScreen, zoom } from "../src/views/map/camera";
import { appearance, colourOf, DARK, LIGHT, rgb, Slots } from "../src/components/group-colours";
import { CanvasRenderer } from "../src/views/map/canvas-renderer";
import { placeBeside } from "../src/views/map/hover-card";
import { countByGroup } from "../src/views/map/lasso-bar";
import { decode, ease, interpolate } from "../src/views/map/points";
import { ItemCache, sample } from "../src/views/map/item-cache";
import { boundsOf, isInside, SpatialIndex } from "../src/views/map/spatial-index";
import { stampFor } from "../src/views/map/stamp";

const size = { width: 800, height: 600 };

function bytes(xy: number[], group: number[]): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(xy.length * 4 + group.length * 2));
  xy.forEach((value, k) => view.setFloat32(4 * k, value, true));
  group.forEach((value, k) => view.setUint16(4 * xy.length + 2 * k, value, true));
  return view.buffer;
}

/** Points from a fixed sequence, so that a failure can be repeated. */
function scattered(n: number): Float32Array {
  let state = 7;
  return Float32Array.from({ length: 2 * n }, () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return (state / 2147483648) * 2 - 1;
  });
}

test("points are read as little-endian floats and group indices", () => {
  const points = decode(bytes([0.5, -1, 1, 0.25], [0, 513]), 2);
  expect(points && [...points.xy]).toEqual([0.5, -1, 1, 0.25]);
  expect(points && [...points.group]).toEqual([0, 513]);
});

test("bytes of another length are rejected", () => {
  expect(decode(bytes([0, 0], [1]), 2)).toBeNull();
  expect(decode(new ArrayBuffer(0), 0)?.n).toBe(0);
});

test("points move smoothly from one layout to the next", () => {
  const [from, to] = [Float32Array.of(0, 0), Float32Array.of(1, -1)];
  expect([...interpolate(from, to, 0)]).toEqual([0, 0]);
  expect([...interpolate(from, to, 0.5)]).toEqual([0.5, -0.5]);
  expect([...interpolate(from, to, 7)]).toEqual([1, -1]);
  expect(ease(0.1)).toBeLessThan(0.1);
});

test("screen and map coordinates convert both ways", () => {
  const camera = zoom(pan(fit(size), size, 40, -25), size, 3, 120, 500);
  const [x, y] = toMap(camera, size, 333, 77);
  const [px, py] = toScreen(camera, size, x, y);
  expect([px, py]).toEqual([expect.closeTo(333), expect.closeTo(77)]);
});

test("what is under the pointer stays there when zooming", () => {
  const before = fit(size);
  const [x, y] = toMap(before, size, 300, 200);
  const [px, py] = toScreen(zoom(before, size, 2, 300, 200), size, x, y);
  expect([px, py]).toEqual([expect.closeTo(300), expect.closeTo(200)]);
});

test("the map cannot be lost by zooming or panning", () => {
  let camera = fit(size);
  for (let k = 0; k < 50; k += 1) camera = pan(zoom(camera, size, 0.5, 10, 10), size, 900, 900);
  const [px, py] = toScreen(camera, size, 0, 0);
  expect(camera.scale).toBeGreaterThan(fit(size).scale * 0.5);
  expect(Math.abs(px - 400)).toBeLessThan(size.width);
  expect(Math.abs(py - 300)).toBeLessThan(size.height);
});

test("all points are visible at first, and a group after flying to it", () => {
  for (const [x, y] of [[-1, -1], [1, 1]] as const) {
    const [px, py] = toScreen(fit(size), size, x, y);
    expect(px >= 0 && px <= size.width && py >= 0 && py <= size.height).toBe(true);
  }
  const near = frame(size, [0.1, 0.1, 0.3, 0.2]);
  expect(toScreen(near, size, 0.2, 0.15)).toEqual([expect.closeTo(400), expect.closeTo(300)]);
  expect(near.scale).toBeGreaterThan(fit(size).scale);
});

test("points are smaller when there are more, and never vanish", () => {
  const sizes = [100, 5_000, 100_000].map((n) => pointSize(n, fit(size), size));
  expect(sizes[0]).toBeGreaterThan(sizes[1] ?? 0);
  expect(sizes[2]).toBeGreaterThanOrEqual(2);
});

test("the nearest point is the one that brute force finds", () => {
  const xy = scattered(3000);
  const grid = new SpatialIndex(xy);
  for (const [x, y] of [[0, 0], [0.93, -0.99], [-0.4, 0.7], [1, 1]] as const) {
    let [best, least] = [-1, Infinity];
    for (let k = 0; k < 3000; k += 1) {
      const far = Math.hypot((xy[2 * k] ?? 0) - x, (xy[2 * k + 1] ?? 0) - y);
      if (far < least) [best, least] = [k, far];
    }
    expect(grid.nearest(x, y, 0.2)).toBe(best);
    expect(grid.nearest(x, y, least / 2)).toBeNull();
    expect(grid.nearest(x, y, 0.2, (k) => k !== best)).not.toBe(best);
  }
});

test("a loop selects the points within it, also when it is not convex", () => {
  const xy = scattered(3000);
  const loop = [-0.8, -0.8, 0.8, -0.8, 0.8, 0.8, 0, -0.2, -0.8, 0.8]; // a notch from above
  const all = Array.from({ length: 3000 }, (_, k) => k);
  const expected = all.filter((k) => isInside(loop, xy[2 * k] ?? 0, xy[2 * k + 1] ?? 0));
  expect(expected.length).toBeGreaterThan(300);
  expect(isInside(loop, 0, 0.5)).toBe(false);
  expect(isInside(loop, 0.6, 0)).toBe(true);
  expect(new SpatialIndex(xy).within(loop)).toEqual(expected);
  expect(new SpatialIndex(xy).within([0, 0, 1, 1])).toEqual([]);
});

test("outliers do not widen the bounds of a group", () => {
  const xy = Float32Array.from({ length: 200 }, (_, k) => (k < 198 ? 0.1 + (k % 10) / 100 : 1));
  const box = boundsOf(xy, Array.from({ length: 100 }, (_, k) => k));
  expect(box?.[2]).toBeLessThan(0.3);
  expect(boundsOf(xy, [])).toBeNull();
});

// -- colours -----------------------------------------------------------------------------------

type Matrix = readonly (readonly [number, number, number])[];
/** Colour blindness in linear light (Machado, Oliveira, Fernandes 2009, full severity). */
const SIGHT: Record<string, Matrix> = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
};
const linear = (hex: string) =>
  rgb(hex).map((byte) => {
    const c = byte / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
const times = (matrix: Matrix, v: number[]) =>
  matrix.map((row) => row.reduce((sum, m, k) => sum + m * (v[k] ?? 0), 0));
function lab(v: number[]): number[] {
  const cones = times(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]],
    v.map((c) => Math.min(1, Math.max(0, c))),
  ).map(Math.cbrt);
  return times(
    [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]],
    cones,
  );
}
const luminance = (hex: string) => times([[0.2126, 0.7152, 0.0722]], linear(hex))[0] ?? 0;
function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

test.each([
  ["light", LIGHT, ["#faf9f6", "#ffffff"]],
  ["dark", DARK, ["#15181a", "#1f2427"]],
] as const)("colours stand out from the %s paper", (_, colours, papers) => {
  for (const colour of colours) {
    for (const paper of papers) expect(contrast(colour, paper)).toBeGreaterThanOrEqual(3);
  }
});

test.each(["usual", "protan", "deutan"])("colours can be told apart with %s vision", (sight) => {
  for (const colours of [LIGHT, DARK]) {
    const seen = colours.map((hex) => lab(times(SIGHT[sight] ?? [], linear(hex))));
    for (const [k, one] of seen.entries()) {
      for (const other of seen.slice(k + 1)) {
        const apart = Math.hypot(...one.map((value, i) => value - (other[i] ?? 0)));
        expect(apart).toBeGreaterThan(0.09);
      }
    }
  }
});

test("32 groups look different, by colour and shape", () => {
  const looks = Array.from({ length: 32 }, (_, slot) => JSON.stringify(appearance(slot)));
  expect(new Set(looks).size).toBe(32);
  expect(colourOf(3, false)).not.toBe(colourOf(3, true));
});

test("a group keeps its look when others come and go", () => {
  const slots = new Slots();
  slots.assign([{ number: 4, place: 0 }, { number: 2, place: 1 }, { number: 9, place: 2 }]);
  const before = slots.of(9);
  slots.assign([{ number: 9, place: 2 }, { number: 11, place: 3 }, { number: 4, place: 0 }]);
  expect(slots.of(9)).toBe(before);
  expect(slots.of(4)).toBe(0);
  expect(slots.of(11)).toBe(3);
});

// -- previews ----------------------------------------------------------------------------------

test("an item is fetched once, and the ones used least recently are dropped", async () => {
  const asked: number[][] = [];
  const cache = new ItemCache(async (positions) => {
    asked.push(positions);
    return positions.map((one) => ({ id: `${one}`, kind: "image", preview: null, position: one }));
  });
  await cache.read([1, 2]);
  await cache.read([2, 3]);
  expect(asked).toEqual([[1, 2], [3]]);
  await cache.read(Array.from({ length: 400 }, (_, k) => 10 + k));
  expect(cache.get(1)).toBeUndefined();
  expect(cache.get(409)?.id).toBe("409");
});

test("a sample is spread evenly", () => {
  expect(sample([1, 2], 5)).toEqual([1, 2]);
  expect(sample(Array.from({ length: 100 }, (_, k) => k), 4)).toEqual([0, 25, 50, 75]);
});

test("selected points are counted by group, the most frequent first", () => {
  const points = { n: 4, xy: new Float32Array(8), group: Uint16Array.of(0, 1, 1, 0) };
  const groups = [{ number: 3, name: "A", place: 0, size: 2 }, { number: 5, name: "B", place: 1, size: 2 }];
  const found = countByGroup([0, 1, 2], points, groups).map(([group, n]) => [group.name, n]);
  expect(found).toEqual([["B", 2], ["A", 1]]);
});

test("the preview stays on the map", () => {
  for (const at of [[0, 0], [799, 599], [400, 300]] as [number, number][]) {
    const { left, top } = placeBeside(at, size);
    expect(left >= 0 && left + 190 <= size.width && top >= 0 && top + 250 <= size.height).toBe(true);
    expect(at[0] > left && at[0] < left + 190, "the card never covers its point").toBe(false);
  }
});

// -- drawn without a graphics card -----------------------------------------------------------------

const W = 40;

/** A canvas of 40 by 40 that keeps what was put on it. */
function paper() {
  let kept = new Uint32Array();
  const context = {
    canvas: { width: W, height: W },
    createImageData: (width: number, height: number) => ({
      width,
      height,
      data: new Uint8ClampedArray(width * height * 4),
    }),
    putImageData: (image: ImageData) => (kept = new Uint32Array(image.data.buffer)),
  };
  const at = (x: number, y: number) => {
    const pixel = kept[y * W + x] ?? 0;
    return [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255, pixel >>> 24];
  };
  return { renderer: new CanvasRenderer(context as unknown as CanvasRenderingContext2D), at };
}

const scene = {
  camera: { x: 0, y: 0, scale: 20 },
  size: { width: W, height: W },
  pixelRatio: 1,
  progress: 1,
  pointSize: 8,
  selecting: false,
};
const RED = { rgb: [200, 0, 0], shape: 0, coloured: true } as const;
const BLUE = { rgb: [0, 0, 200], shape: 1, coloured: true } as const;

test("points are drawn in their place and colour", () => {
  const { renderer, at } = paper();
  const xy = Float32Array.of(0.5, 0.5, -0.5, -0.5, 5, 5); // the last one is out of view
  renderer.setPoints(xy, xy, Uint16Array.of(0, 1, 1));
  renderer.setStyles([RED, BLUE], [100, 100, 100]);
  renderer.draw(scene);
  expect(at(30, 10)).toEqual([200, 0, 0, 255]);
  expect(at(10, 30)).toEqual([0, 0, 200, 255]);
  expect(at(20, 20)).toEqual([0, 0, 0, 0]);
});

test("points that are not coloured are grey and below the others", () => {
  const { renderer, at } = paper();
  const xy = Float32Array.of(0, 0, 0, 0, 0.5, 0.5);
  renderer.setPoints(xy, xy, Uint16Array.of(1, 0, 0)); // the coloured one comes first in the list
  renderer.setStyles([{ ...RED, coloured: false }, BLUE], [100, 100, 100]);
  renderer.draw(scene);
  expect(at(20, 20)).toEqual([0, 0, 200, 255]);
  expect(at(30, 10)).toEqual([100, 100, 100, 255]);
  renderer.setSelected(Uint8Array.of(0, 0, 1));
  renderer.draw({ ...scene, selecting: true });
  expect(at(30, 10)).toEqual([200, 0, 0, 255]);
  expect(at(20, 20)).toEqual([100, 100, 100, 255]);
});

test("half-way between two layouts points are half-way", () => {
  const { renderer, at } = paper();
  renderer.setPoints(Float32Array.of(-0.5, 0), Float32Array.of(0.5, 0), Uint16Array.of(0));
  renderer.setStyles([RED], [100, 100, 100]);
  renderer.draw({ ...scene, progress: 0.5 });
  expect(at(20, 20)).toEqual([200, 0, 0, 255]);
  expect(at(30, 20)[3]).toBe(0);
});

test("the four shapes differ, and each is as large as was asked for", () => {
  const shapes = [0, 1, 2, 3].map((shape) => stampFor(shape, 12));
  const drawn = shapes.map((one) => [...one.dx].map((x, k) => `${x},${one.dy[k]},${one.alpha[k]}`).join(" "));
  expect(new Set(drawn).size).toBe(4);
  for (const one of shapes) expect(Math.max(...one.dx)).toBeGreaterThanOrEqual(10);
  expect([...stampFor(0, 2).alpha].every((alpha) => alpha > 100), "a tiny one is seen").toBe(true);
});
