/** What draws the points: WebGL where there is one, a plain canvas elsewhere. */

import type { Camera, Size } from "./camera";
import type { Rgb } from "./colours";
import { Flat } from "./flat";
import { Gl } from "./gl";

export interface GroupLook {
  rgb: Rgb;
  shape: number;
  /** Whether the group has its colour; those without stay grey. */
  lit: boolean;
}

/** All that a frame depends on, except the points themselves. */
export interface Scene {
  camera: Camera;
  size: Size;
  /** Pixels of the screen per pixel of the page. */
  ratio: number;
  /** How far the points are on their way, from 0 to 1, already eased. */
  share: number;
  point: number;
  /** Only marked points have their colour. */
  marking: boolean;
}

export interface Picture {
  readonly kind: "webgl" | "flat";
  points(from: Float32Array, to: Float32Array, group: Uint16Array): void;
  looks(groups: readonly GroupLook[], grey: Rgb): void;
  marks(marked: Uint8Array): void;
  draw(scene: Scene): void;
  dispose(): void;
}

/** Where WebGL is only imitated by the processor, more points than this are set by ourselves. */
const MOST_IMITATED = 10_000;

/** Whether the processor plays the graphics card; tried on a canvas that is thrown away. */
function imitated(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (gl === null) return true;
  const told = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/** A picture of `n` points on a canvas that has not been used; null: it cannot be drawn on. */
export function pictureOn(canvas: HTMLCanvasElement, n: number, flat = false): Picture | null {
  if (!flat && !(n > MOST_IMITATED && imitated())) {
    const gl = canvas.getContext("webgl2", {
      antialias: false,
      depth: false,
      powerPreference: "high-performance",
    });
    const picture = gl && Gl.on(gl);
    if (picture) return picture;
    // A canvas that has tried WebGL cannot draw flat any more; the caller takes a new one.
    if (gl) return null;
  }
  const flatly = canvas.getContext("2d");
  return flatly && new Flat(flatly);
}
