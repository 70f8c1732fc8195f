/** Draws the points pixel by pixel, without a graphics card: 100,000 in a few milliseconds. */

import type { Rgb } from "../../components/group-colours";
import type { GroupStyle, Renderer, Scene } from "./renderer";
import { type Stamp, stampFor } from "./stamp";

/** The four bytes of a pixel as one number, as canvases store them. */
const toPixel = ([r, g, b]: Rgb) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
const COLOUR_MASK = 0x00ffffff;
const OPAQUE = 0xff000000;
/** Coverage, of 255, above which a pixel is drawn as if it was covered entirely. */
const NEARLY_COVERED = 200;
const HALF_COVERED = 127;
/** Grey points are smaller than coloured ones. */
const GREY_SIZE = 0.8;

export class CanvasRenderer implements Renderer {
  readonly kind = "canvas";
  private from: Float32Array = new Float32Array();
  private to: Float32Array = new Float32Array();
  private group: Uint16Array = new Uint16Array();
  private selected: Uint8Array = new Uint8Array();
  private groups: readonly GroupStyle[] = [];
  private grey = 0;
  private image: ImageData | null = null;

  constructor(private readonly context: CanvasRenderingContext2D) {}

  setPoints(from: Float32Array, to: Float32Array, group: Uint16Array): void {
    [this.from, this.to, this.group] = [from, to, group];
    this.selected = new Uint8Array(group.length);
  }

  setStyles(groups: readonly GroupStyle[], grey: Rgb): void {
    this.groups = groups;
    this.grey = toPixel(grey);
  }

  setSelected(selected: Uint8Array): void {
    this.selected = selected;
  }

  draw(scene: Scene): void {
    const { width, height } = this.context.canvas;
    if (this.image?.width !== width || this.image.height !== height) {
      this.image = this.context.createImageData(width, height);
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill(0);
    // The grey ones first, so that the coloured ones are on top.
    const allColoured = !scene.selecting && this.groups.every((group) => group.coloured);
    if (!allColoured) this.drawPoints(pixels, scene, false);
    this.drawPoints(pixels, scene, true);
    this.context.putImageData(this.image, 0, 0);
  }

  dispose(): void {
    this.image = null;
  }

  private drawPoints(pixels: Uint32Array, scene: Scene, coloured: boolean): void {
    const { width, height } = this.context.canvas;
    const { camera, pixelRatio, progress, selecting } = scene;
    const scale = camera.scale * pixelRatio;
    const [midX, midY] = [width / 2, height / 2];
    const side = Math.max(2, Math.round(scene.pointSize * pixelRatio * (coloured ? 1 : GREY_SIZE)));
    const stamps = [0, 1, 2, 3].map((shape) => stampFor(shape, side));
    const colours = this.groups.map((group) => toPixel(group.rgb));
    const { from, to, group, selected, groups, grey } = this;
    for (let k = 0; k < group.length; k += 1) {
      const g = group[k] as number;
      const style = groups[g];
      if (style === undefined) continue;
      if ((selecting ? selected[k] === 1 : style.coloured) !== coloured) continue;
      const [i, j] = [2 * k, 2 * k + 1];
      const x = (from[i] as number) * (1 - progress) + (to[i] as number) * progress;
      const y = (from[j] as number) * (1 - progress) + (to[j] as number) * progress;
      const px = Math.round(midX + (x - camera.x) * scale - side / 2);
      const py = Math.round(midY - (y - camera.y) * scale - side / 2);
      if (px <= -side || py <= -side || px >= width || py >= height) continue;
      const colour = coloured ? (colours[g] as number) : grey;
      drawStamp(pixels, width, height, stamps[style.shape] as Stamp, px, py, colour);
    }
  }
}

/** Draw one point. Its edge is translucent where nothing is below it. */
function drawStamp(
  pixels: Uint32Array,
  width: number,
  height: number,
  { dx, dy, alpha }: Stamp,
  px: number,
  py: number,
  colour: number,
): void {
  for (let s = 0; s < alpha.length; s += 1) {
    const x = px + (dx[s] as number);
    const y = py + (dy[s] as number);
    if (x < 0 || y < 0 || x >= width || y >= height) continue;
    const index = y * width + x;
    const coverage = alpha[s] as number;
    if (coverage > NEARLY_COVERED) pixels[index] = colour | OPAQUE;
    else if (pixels[index] === 0) pixels[index] = (colour & COLOUR_MASK) | (coverage << 24);
    else if (coverage > HALF_COVERED) pixels[index] = (colour & COLOUR_MASK) | OPAQUE;
  }
}
