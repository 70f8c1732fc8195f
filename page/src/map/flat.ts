/** The points set pixel by pixel, where there is no graphics card: 100,000 in a few milliseconds. */

import type { Rgb } from "./colours";
import type { GroupLook, Picture, Scene } from "./picture";
import { stamp, type Stamp } from "./stamp";

/** The four bytes of a pixel as one number, as canvases keep them. */
const pixelOf = ([r, g, b]: Rgb) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
const COLOUR = 0x00ffffff;
const SOLID = 0xff000000;

export class Flat implements Picture {
  readonly kind = "flat";
  private from: Float32Array = new Float32Array();
  private to: Float32Array = new Float32Array();
  private group: Uint16Array = new Uint16Array();
  private marked: Uint8Array = new Uint8Array();
  private groups: readonly GroupLook[] = [];
  private grey = 0;
  private image: ImageData | null = null;

  constructor(private readonly context: CanvasRenderingContext2D) {}

  points(from: Float32Array, to: Float32Array, group: Uint16Array): void {
    [this.from, this.to, this.group] = [from, to, group];
    this.marked = new Uint8Array(group.length);
  }

  looks(groups: readonly GroupLook[], grey: Rgb): void {
    this.groups = groups;
    this.grey = pixelOf(grey);
  }

  marks(marked: Uint8Array): void {
    this.marked = marked;
  }

  draw(scene: Scene): void {
    const { width, height } = this.context.canvas;
    if (this.image?.width !== width || this.image.height !== height) {
      this.image = this.context.createImageData(width, height);
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill(0);
    // The grey ones first, so that the others lie on top of them.
    const all = !scene.marking && this.groups.every((group) => group.lit);
    if (!all) this.set(pixels, scene, false);
    this.set(pixels, scene, true);
    this.context.putImageData(this.image, 0, 0);
  }

  dispose(): void {
    this.image = null;
  }

  private set(pixels: Uint32Array, scene: Scene, colourful: boolean): void {
    const { width, height } = this.context.canvas;
    const { camera, ratio, share, marking } = scene;
    const scale = camera.scale * ratio;
    const [midX, midY] = [width / 2, height / 2];
    const side = Math.max(2, Math.round(scene.point * ratio * (colourful ? 1 : 0.8)));
    const stamps = [0, 1, 2, 3].map((shape) => stamp(shape, side));
    const colours = this.groups.map((group) => pixelOf(group.rgb));
    const { from, to, group, marked, groups, grey } = this;
    for (let k = 0; k < group.length; k += 1) {
      const g = group[k] as number;
      const look = groups[g];
      if (look === undefined || (marking ? marked[k] === 1 : look.lit) !== colourful) continue;
      const [i, j] = [2 * k, 2 * k + 1];
      const x = (from[i] as number) * (1 - share) + (to[i] as number) * share;
      const y = (from[j] as number) * (1 - share) + (to[j] as number) * share;
      const px = Math.round(midX + (x - camera.x) * scale - side / 2);
      const py = Math.round(midY - (y - camera.y) * scale - side / 2);
      if (px <= -side || py <= -side || px >= width || py >= height) continue;
      const colour = colourful ? (colours[g] as number) : grey;
      press(pixels, width, height, stamps[look.shape] as Stamp, px, py, colour);
    }
  }
}

/** Set one point. Its edge is let through where nothing lies below it. */
function press(
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
    const at = y * width + x;
    const covered = alpha[s] as number;
    if (covered > 200) pixels[at] = colour | SOLID;
    else if (pixels[at] === 0) pixels[at] = (colour & COLOUR) | (covered << 24);
    else if (covered > 127) pixels[at] = (colour & COLOUR) | SOLID;
  }
}
