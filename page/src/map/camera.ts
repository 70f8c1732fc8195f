/** Where one looks at the map from: a centre in the map, and pixels per unit. */

export interface Size {
  width: number;
  height: number;
}

export interface Camera {
  x: number;
  y: number;
  /** Pixels per unit of the map. */
  scale: number;
}

const MARGIN = 24;
const MOST_ZOOM = 400;

/** All points in view. */
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

/** Never so far away that the points are lost. */
function kept(camera: Camera, size: Size): Camera {
  const whole = fit(size).scale;
  return {
    x: Math.min(1.2, Math.max(-1.2, camera.x)),
    y: Math.min(1.2, Math.max(-1.2, camera.y)),
    scale: Math.min(whole * MOST_ZOOM, Math.max(whole * 0.6, camera.scale)),
  };
}

/** Zoom; what lies under the pixel stays under it. */
export function zoom(camera: Camera, size: Size, factor: number, px: number, py: number): Camera {
  const [x, y] = toMap(camera, size, px, py);
  const { scale } = kept({ ...camera, scale: camera.scale * factor }, size);
  return kept(
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
  return kept({ x: camera.x - dx / scale, y: camera.y + dy / scale, scale }, size);
}

/** A box of the map in view: for "show me this group". */
export function frame(size: Size, box: readonly [number, number, number, number]): Camera {
  const [left, bottom, right, top] = box;
  const room = 0.7;
  const scale = Math.min(
    (size.width * room) / Math.max(right - left, 0.02),
    (size.height * room) / Math.max(top - bottom, 0.02),
  );
  return kept({ x: (left + right) / 2, y: (bottom + top) / 2, scale }, size);
}

/** How large a point is drawn, in pixels: small when there are many, larger when one is near. */
export function pointSize(n: number, camera: Camera, size: Size): number {
  const whole = fit(size);
  const roomy = Math.sqrt((whole.scale * whole.scale) / Math.max(n, 1)) * 0.75;
  const near = Math.sqrt(camera.scale / whole.scale);
  return Math.min(26, Math.max(2.2, Math.min(roomy, 13) * near));
}
