/** The map as a thing to handle: moved, zoomed, hovered over, lassoed; it draws only when needed. */

import { fit, frame, pan, pointSize, toMap, toScreen, zoom, type Camera, type Size } from "./camera";
import type { Rgb } from "./colours";
import { Hand } from "./hand";
import { pictureOn, type GroupLook, type Picture } from "./picture";
import { between, ease, type Points } from "./points";
import { boxOf, Grid } from "./search";

/** How long points take to a new layout, and the camera to a new place, in milliseconds. */
const JOURNEY = 1100;
const FLIGHT = 320;
/** How near, in pixels, the pointer must be to a point. */
const REACH = 14;

export interface Hooks {
  /** The point under the pointer, with where it is drawn; null: none. */
  hover: (point: number | null, at: [number, number]) => void;
  /** A loop was closed around these points. */
  lasso: (points: number[]) => void;
  /** The loop while it is drawn, in pixels; empty: there is none. */
  loop: (drawn: readonly number[]) => void;
  /** The graphics card has gone; the caller makes another canvas. */
  lost: () => void;
}

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Scatter {
  size: Size = { width: 0, height: 0 };
  camera: Camera = { x: 0, y: 0, scale: 1 };
  /** What a drag does: move the map, or draw a loop. */
  mode: "pan" | "lasso" = "pan";
  private points: Points | null = null;
  private from: Float32Array | null = null;
  private began = 0;
  private flight: { from: Camera; to: Camera; began: number } | null = null;
  private grid: Grid | null = null;
  private lit: readonly boolean[] = [];
  private marking = false;
  private waiting = 0;
  private readonly hand: Hand;
  private readonly watch: ResizeObserver;

  static on(canvas: HTMLCanvasElement, n: number, hooks: Hooks, flat: boolean): Scatter | null {
    const picture = pictureOn(canvas, n, flat);
    return picture && new Scatter(canvas, picture, hooks);
  }

  private constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly picture: Picture,
    private readonly hooks: Hooks,
  ) {
    this.hand = new Hand(canvas, this);
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(canvas);
    canvas.addEventListener("webglcontextlost", this.lost);
    this.resize();
  }

  get kind(): Picture["kind"] {
    return this.picture.kind;
  }

  /** Show these points; those of before travel to their new places. */
  show(points: Points): void {
    const before = this.points;
    const travels = before !== null && before.n === points.n && !still();
    this.from = travels ? this.where() : points.xy;
    this.points = points;
    this.grid = null;
    this.marking = false;
    this.began = travels ? performance.now() : -Infinity;
    this.picture.points(this.from, points.xy, points.group);
    this.hooks.hover(null, [0, 0]);
    this.draw();
  }

  dress(groups: readonly GroupLook[], grey: Rgb): void {
    this.lit = groups.map((group) => group.lit);
    this.picture.looks(groups, grey);
    this.draw();
  }

  /** Give only these points their colour; null: all of them again. */
  mark(which: readonly number[] | null): void {
    if (this.points === null) return;
    const marked = new Uint8Array(this.points.n);
    for (const k of which ?? []) marked[k] = 1;
    this.marking = which !== null;
    this.picture.marks(marked);
    this.draw();
  }

  pan(dx: number, dy: number): void {
    this.flight = null;
    this.camera = pan(this.camera, this.size, dx, dy);
    this.draw();
  }

  zoom(factor: number, px = this.size.width / 2, py = this.size.height / 2): void {
    this.flight = null;
    this.camera = zoom(this.camera, this.size, factor, px, py);
    this.draw();
  }

  /** Fly to some points; null: to all. */
  look(which: readonly number[] | null): void {
    const box = which && this.points && boxOf(this.points.xy, which);
    this.fly(box ? frame(this.size, box) : fit(this.size));
  }

  hover(px: number, py: number): void {
    const k = this.nearest(px, py);
    const xy = this.points?.xy;
    if (k === null || !xy) this.hooks.hover(null, [px, py]);
    else this.hooks.hover(k, toScreen(this.camera, this.size, xy[2 * k] ?? 0, xy[2 * k + 1] ?? 0));
  }

  leave(): void {
    this.hooks.hover(null, [0, 0]);
  }

  loop(drawn: readonly number[]): void {
    this.hooks.loop(drawn);
  }

  /** Take what lies within a loop, given in pixels; groups that are grey are left out. */
  close(drawn: readonly number[]): void {
    this.hooks.loop([]);
    const loop: number[] = [];
    for (let k = 0; k < drawn.length; k += 2) {
      loop.push(...toMap(this.camera, this.size, drawn[k] ?? 0, drawn[k + 1] ?? 0));
    }
    this.hooks.lasso(this.index()?.within(loop).filter((k) => this.coloured(k)) ?? []);
  }

  /** Whether these points are drawn in the lower half, so that a bar should lie in the upper one. */
  low(which: readonly number[]): boolean {
    const xy = this.points?.xy;
    if (!xy || which.length === 0) return false;
    const mean = which.reduce((sum, k) => sum + (xy[2 * k + 1] ?? 0), 0) / which.length;
    return toScreen(this.camera, this.size, 0, mean)[1] > this.size.height * 0.55;
  }

  /** A circle in the middle of what is in view: a loop for those who use keys. */
  circle(): number[] {
    const { width, height } = this.size;
    const radius = Math.min(width, height) / 5;
    return Array.from({ length: 48 }, (_, k) => (k / 48) * 2 * Math.PI).flatMap((angle) => [
      width / 2 + radius * Math.cos(angle),
      height / 2 + radius * Math.sin(angle),
    ]);
  }

  dispose(): void {
    cancelAnimationFrame(this.waiting);
    this.hand.dispose();
    this.watch.disconnect();
    this.canvas.removeEventListener("webglcontextlost", this.lost);
    this.picture.dispose();
  }

  private readonly lost = (event: Event) => {
    event.preventDefault();
    this.hooks.lost();
  };

  private coloured(k: number): boolean {
    return this.lit[this.points?.group[k] ?? 0] ?? true;
  }

  private nearest(px: number, py: number): number | null {
    if (this.moving()) return null;
    const [x, y] = toMap(this.camera, this.size, px, py);
    return this.index()?.nearest(x, y, REACH / this.camera.scale, (k) => this.coloured(k)) ?? null;
  }

  /** Built when it is first asked for: a layout that only passes by needs none. */
  private index(): Grid | null {
    if (this.grid === null && this.points) this.grid = new Grid(this.points.xy);
    return this.grid;
  }

  private moving(): boolean {
    return performance.now() - this.began < JOURNEY;
  }

  /** Where the points are drawn right now. */
  private where(): Float32Array {
    const to = this.points?.xy ?? new Float32Array();
    if (this.from === null || !this.moving()) return to;
    return between(this.from, to, (performance.now() - this.began) / JOURNEY);
  }

  private fly(to: Camera): void {
    if (still()) this.camera = to;
    else this.flight = { from: this.camera, to, began: performance.now() };
    this.draw();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const first = this.size.width === 0;
    const grown = first ? 1 : fit({ width, height }).scale / fit(this.size).scale;
    this.size = { width, height };
    this.camera = first ? fit(this.size) : { ...this.camera, scale: this.camera.scale * grown };
    this.frame(); // at once: a canvas that changes its size is empty until it is drawn
  }

  private draw(): void {
    if (this.waiting === 0) this.waiting = requestAnimationFrame(() => this.frame());
  }

  private frame(): void {
    cancelAnimationFrame(this.waiting);
    this.waiting = 0;
    if (this.size.width === 0) return;
    const now = performance.now();
    if (this.flight) {
      const { from, to, began } = this.flight;
      const share = ease((now - began) / FLIGHT);
      const mixed = (a: number, b: number) => a + (b - a) * share;
      this.camera = {
        x: mixed(from.x, to.x),
        y: mixed(from.y, to.y),
        scale: from.scale * (to.scale / from.scale) ** share,
      };
      if (share >= 1) this.flight = null;
    }
    this.picture.draw({
      camera: this.camera,
      size: this.size,
      ratio: this.canvas.width / this.size.width,
      share: ease((now - this.began) / JOURNEY),
      point: pointSize(this.points?.n ?? 0, this.camera, this.size),
      marking: this.marking,
    });
    if (this.moving() || this.flight) this.draw();
  }
}
