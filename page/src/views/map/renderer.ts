/** Draws the points: with WebGL where possible, on a plain canvas elsewhere. */

import type { Rgb } from "../../components/group-colours";
import type { Size } from "../../components/use-size";
import type { Camera } from "./camera";
import { CanvasRenderer } from "./canvas-renderer";
import { WebglRenderer } from "./webgl-renderer";

export interface GroupStyle {
  rgb: Rgb;
  shape: number;
  /** Whether the group has its colour; otherwise it is grey. */
  coloured: boolean;
}

/** Everything that a frame depends on, except the points themselves. */
export interface Scene {
  camera: Camera;
  size: Size;
  /** Device pixels per CSS pixel. */
  pixelRatio: number;
  /** How far the points have moved from the old layout to the new one, from 0 to 1. */
  progress: number;
  pointSize: number;
  /** Whether only selected points have their colour. */
  selecting: boolean;
}

export type RendererKind = "webgl" | "canvas";

export interface Renderer {
  readonly kind: RendererKind;
  setPoints(from: Float32Array, to: Float32Array, group: Uint16Array): void;
  setStyles(groups: readonly GroupStyle[], grey: Rgb): void;
  setSelected(selected: Uint8Array): void;
  draw(scene: Scene): void;
  dispose(): void;
}

/** Where WebGL is emulated by the processor, more points than this are faster on a plain canvas. */
const MAX_EMULATED_POINTS = 10_000;

/** Whether WebGL runs on the processor. Tried on a canvas that is thrown away. */
function isEmulated(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (gl === null) return true;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/** A renderer for `n` points on an unused canvas; `null` if it cannot be drawn on. */
export function createRenderer(canvas: HTMLCanvasElement, n: number, withoutWebgl = false): Renderer | null {
  if (!withoutWebgl && !(n > MAX_EMULATED_POINTS && isEmulated())) {
    const gl = canvas.getContext("webgl2", {
      antialias: false,
      depth: false,
      powerPreference: "high-performance",
    });
    const renderer = gl && WebglRenderer.create(gl);
    if (renderer) return renderer;
    // A canvas that has a WebGL context cannot have another one; the caller makes a new canvas.
    if (gl) return null;
  }
  const context = canvas.getContext("2d");
  return context && new CanvasRenderer(context);
}
