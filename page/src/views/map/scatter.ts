/** The scatter plot: pan, zoom, hover, lasso, and points that move to a new layout. It draws only when needed. */

import type { Rgb } from "../../components/group-colours";
import type { Size } from "../../components/use-size";
import { type Camera, fit, frame, pan, pointSize, toMap, toScreen, zoom } from "./camera";
import { PointerControls } from "./pointer";
import { ease, interpolate, type Points } from "./points";
import { createRenderer, type GroupStyle, type Renderer, type RendererKind } from "./renderer";
import { boundsOf, SpatialIndex } from "./spatial-index";

/** How long points take to move to a new layout, and the camera to a new place. */
const TRANSITION_MS = 1100;
const FLIGHT_MS = 320;
/** How near to a point the pointer must be, in pixels. */
const HOVER_RADIUS = 14;
/** The same for a finger. */
const FINGER_RADIUS = 24;
/** Higher resolutions cost time and show no more. */
const MAX_PIXEL_RATIO = 2;
/** Points below this share of the height are covered by a bar at the bottom. */
const LOW_SHARE = 0.55;
const CIRCLE_CORNERS = 48;

/** What dragging does: move the map, or draw a loop. */
export type DragMode = "pan" | "lasso";

export interface ScatterEvents {
  /** The point under the pointer and its place on the screen; `null` for none. */
  onHover: (point: number | null, at: [number, number]) => void;
  /** A loop was closed around these points. */
  onLasso: (points: number[]) => void;
  /** The loop while it is drawn, in pixels; empty for none. */
  onLoop: (loop: readonly number[]) => void;
  /** A frame was drawn; `still`: it is the last one for now. */
  onFrame?: (still: boolean) => void;
  /** The WebGL context was lost. The caller makes a new canvas. */
  onContextLost: () => void;
}

const prefersReducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Scatter {
  size: Size = { width: 0, height: 0 };
  camera: Camera = { x: 0, y: 0, scale: 1 };
  mode: DragMode = "pan";
  private points: Points | null = null;
  /** Where the points were before the last layout, and when they began to move. */
  private from: Float32Array | null = null;
  private transitionStart = 0;
  private flight: { from: Camera; to: Camera; start: number } | null = null;
  private index: SpatialIndex | null = null;
  private coloured: readonly boolean[] = [];
  private selecting = false;
  private scheduledFrame = 0;
  private readonly pointer: PointerControls;
  private readonly resizeObserver: ResizeObserver;

  static create(
    canvas: HTMLCanvasElement,
    n: number,
    events: ScatterEvents,
    withoutWebgl: boolean,
  ): Scatter | null {
    const renderer = createRenderer(canvas, n, withoutWebgl);
    return renderer && new Scatter(canvas, renderer, events);
  }

  private constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly renderer: Renderer,
    private readonly events: ScatterEvents,
  ) {
    this.pointer = new PointerControls(canvas, this);
    this.resizeObserver = new ResizeObserver(() => this.resize());
    this.resizeObserver.observe(canvas);
    canvas.addEventListener("webglcontextlost", this.onContextLost);
    this.resize();
  }

  get kind(): RendererKind {
    return this.renderer.kind;
  }

  /** Show these points. If they were shown before, they move to their new places. */
  show(points: Points): void {
    const before = this.points;
    const animated = before !== null && before.n === points.n && !prefersReducedMotion();
    this.from = animated ? this.positions() : points.xy;
    this.points = points;
    this.index = null;
    this.selecting = false;
    this.transitionStart = animated ? performance.now() : -Infinity;
    this.renderer.setPoints(this.from, points.xy, points.group);
    this.leave();
    this.scheduleDraw();
  }

  setStyles(groups: readonly GroupStyle[], grey: Rgb): void {
    this.coloured = groups.map((group) => group.coloured);
    this.renderer.setStyles(groups, grey);
    this.scheduleDraw();
  }

  /** Colour only these points; `null` colours all of them again. */
  select(points: readonly number[] | null): void {
    if (this.points === null) return;
    const selected = new Uint8Array(this.points.n);
    for (const k of points ?? []) selected[k] = 1;
    this.selecting = points !== null;
    this.renderer.setSelected(selected);
    this.scheduleDraw();
  }

  pan(dx: number, dy: number): void {
    this.flight = null;
    this.camera = pan(this.camera, this.size, dx, dy);
    this.scheduleDraw();
  }

  zoom(factor: number, px = this.size.width / 2, py = this.size.height / 2): void {
    this.flight = null;
    this.camera = zoom(this.camera, this.size, factor, px, py);
    this.scheduleDraw();
  }

  /** Move the camera to some points; `null` shows all of them. */
  flyTo(points: readonly number[] | null): void {
    const box = points && this.points && boundsOf(this.points.xy, points);
    this.fly(box ? frame(this.size, box) : fit(this.size));
  }

  hover(px: number, py: number, finger = false): void {
    const k = this.pointAt(px, py, finger);
    const xy = this.points?.xy;
    if (k === null || !xy) this.events.onHover(null, [px, py]);
    else this.events.onHover(k, toScreen(this.camera, this.size, xy[2 * k] ?? 0, xy[2 * k + 1] ?? 0));
  }

  /** The point at a place of the screen; `null`: there is none. A finger is less exact than a mouse. */
  pointAt(px: number, py: number, finger = false): number | null {
    return this.nearest(px, py, finger ? FINGER_RADIUS : HOVER_RADIUS);
  }

  /** The point that is nearest to the middle. */
  centralPoint(): { point: number; at: [x: number, y: number] } | null {
    const { width, height } = this.size;
    const point = this.nearest(width / 2, height / 2, Math.hypot(width, height) / 2);
    const xy = this.points?.xy;
    if (point === null || !xy) return null;
    return { point, at: toScreen(this.camera, this.size, xy[2 * point] ?? 0, xy[2 * point + 1] ?? 0) };
  }

  leave(): void {
    this.events.onHover(null, [0, 0]);
  }

  drawLoop(loop: readonly number[]): void {
    this.events.onLoop(loop);
  }

  /** Report the points within a loop, given in pixels, except those of grey groups. */
  closeLoop(pixels: readonly number[]): void {
    this.events.onLoop([]);
    const loop: number[] = [];
    for (let k = 0; k < pixels.length; k += 2) {
      loop.push(...toMap(this.camera, this.size, pixels[k] ?? 0, pixels[k + 1] ?? 0));
    }
    const found = this.spatialIndex()?.within(loop) ?? [];
    this.events.onLasso(found.filter((k) => this.isColoured(k)));
  }

  /** Whether these points are in the lower half of the screen. */
  isLow(points: readonly number[]): boolean {
    const xy = this.points?.xy;
    if (!xy || points.length === 0) return false;
    const mean = points.reduce((sum, k) => sum + (xy[2 * k + 1] ?? 0), 0) / points.length;
    return toScreen(this.camera, this.size, 0, mean)[1] > this.size.height * LOW_SHARE;
  }

  /** A circle in the middle of the screen: a loop for keyboard users. */
  centreCircle(): number[] {
    const { width, height } = this.size;
    const radius = Math.min(width, height) / 5;
    const angles = Array.from({ length: CIRCLE_CORNERS }, (_, k) => (k / CIRCLE_CORNERS) * 2 * Math.PI);
    return angles.flatMap((angle) => [
      width / 2 + radius * Math.cos(angle),
      height / 2 + radius * Math.sin(angle),
    ]);
  }

  dispose(): void {
    cancelAnimationFrame(this.scheduledFrame);
    this.pointer.dispose();
    this.resizeObserver.disconnect();
    this.canvas.removeEventListener("webglcontextlost", this.onContextLost);
    this.renderer.dispose();
  }

  private readonly onContextLost = (event: Event) => {
    event.preventDefault();
    this.events.onContextLost();
  };

  private isColoured(k: number): boolean {
    return this.coloured[this.points?.group[k] ?? 0] ?? true;
  }

  private nearest(px: number, py: number, pixels = HOVER_RADIUS): number | null {
    if (this.isAnimating()) return null;
    const [x, y] = toMap(this.camera, this.size, px, py);
    const radius = pixels / this.camera.scale;
    return this.spatialIndex()?.nearest(x, y, radius, (k) => this.isColoured(k)) ?? null;
  }

  /** Built on first use: a layout that is soon replaced needs none. */
  private spatialIndex(): SpatialIndex | null {
    if (this.index === null && this.points) this.index = new SpatialIndex(this.points.xy);
    return this.index;
  }

  private isAnimating(): boolean {
    return performance.now() - this.transitionStart < TRANSITION_MS;
  }

  /** Where the points are drawn right now. */
  private positions(): Float32Array {
    const to = this.points?.xy ?? new Float32Array();
    if (this.from === null || !this.isAnimating()) return to;
    return interpolate(this.from, to, (performance.now() - this.transitionStart) / TRANSITION_MS);
  }

  private fly(to: Camera): void {
    if (prefersReducedMotion()) this.camera = to;
    else this.flight = { from: this.camera, to, start: performance.now() };
    this.scheduleDraw();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    const ratio = Math.min(devicePixelRatio || 1, MAX_PIXEL_RATIO);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const first = this.size.width === 0;
    const growth = first ? 1 : fit({ width, height }).scale / fit(this.size).scale;
    this.size = { width, height };
    this.camera = first ? fit(this.size) : { ...this.camera, scale: this.camera.scale * growth };
    this.drawFrame(); // at once: a resized canvas is empty until it is drawn
  }

  private scheduleDraw(): void {
    this.canvas.dataset.drawing = ""; // until the last frame is drawn
    if (this.scheduledFrame === 0) {
      this.scheduledFrame = requestAnimationFrame(() => this.drawFrame());
    }
  }

  private drawFrame(): void {
    cancelAnimationFrame(this.scheduledFrame);
    this.scheduledFrame = 0;
    if (this.size.width === 0) return;
    const now = performance.now();
    if (this.flight) {
      const { from, to, start } = this.flight;
      const share = ease((now - start) / FLIGHT_MS);
      const mix = (a: number, b: number) => a + (b - a) * share;
      this.camera = {
        x: mix(from.x, to.x),
        y: mix(from.y, to.y),
        scale: from.scale * (to.scale / from.scale) ** share,
      };
      if (share >= 1) this.flight = null;
    }
    this.renderer.draw({
      camera: this.camera,
      size: this.size,
      pixelRatio: this.canvas.width / this.size.width,
      progress: ease((now - this.transitionStart) / TRANSITION_MS),
      pointSize: pointSize(this.points?.n ?? 0, this.camera, this.size),
      selecting: this.selecting,
    });
    delete this.canvas.dataset.drawing;
    const isMoving = this.isAnimating() || this.flight !== null;
    this.events.onFrame?.(!isMoving);
    if (isMoving) this.scheduleDraw();
  }
}
