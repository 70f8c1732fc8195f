/** Mouse, pen and fingers on the map: drag, wheel, pinch, lasso. */

import { isZoomed } from "../../components/zoom";
import type { DragMode } from "./scatter";

export interface PointerTarget {
  readonly mode: DragMode;
  pan(dx: number, dy: number): void;
  zoom(factor: number, px?: number, py?: number): void;
  hover(px: number, py: number, finger?: boolean): void;
  leave(): void;
  drawLoop(loop: readonly number[]): void;
  closeLoop(loop: readonly number[]): void;
}

/** A press that moves less than this, in pixels, is a tap. */
const MAX_TAP_MOVEMENT = 5;
/** The smallest distance between corners of a loop, in pixels. */
const MIN_LOOP_STEP = 3;
/** How much one pixel of scrolling zooms. */
const WHEEL_SPEED = 0.0016;
const PIXELS_PER_LINE = 16;

type Position = { x: number; y: number };

export class PointerControls {
  private readonly down = new Map<number, Position>();
  private loop: number[] | null = null;
  private travelled = 0;
  private readonly ended = new AbortController();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly target: PointerTarget,
  ) {
    const listen = { signal: this.ended.signal };
    canvas.addEventListener("pointerdown", (event) => this.press(event), listen);
    canvas.addEventListener("pointermove", (event) => this.move(event), listen);
    canvas.addEventListener("pointerup", (event) => this.release(event, true), listen);
    canvas.addEventListener("pointercancel", (event) => this.release(event, false), listen);
    canvas.addEventListener("pointerleave", (event) => this.exit(event), listen);
    canvas.addEventListener("wheel", (event) => this.wheel(event), { ...listen, passive: false });
    addEventListener("keydown", (event) => event.key === "Escape" && this.cancelLoop(), listen);
  }

  dispose(): void {
    this.ended.abort();
  }

  private position(event: MouseEvent): Position {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    const at = this.position(event);
    this.canvas.setPointerCapture(event.pointerId);
    this.down.set(event.pointerId, at);
    this.target.leave();
    if (this.down.size > 1) {
      this.cancelLoop(); // two fingers zoom, also with the lasso
      return;
    }
    this.travelled = 0;
    if (this.target.mode === "lasso" || event.shiftKey) this.loop = [at.x, at.y];
  }

  private move(event: PointerEvent): void {
    const at = this.position(event);
    const before = this.down.get(event.pointerId);
    if (before === undefined) {
      if (event.pointerType !== "touch") this.target.hover(at.x, at.y);
      return;
    }
    this.down.set(event.pointerId, at);
    this.travelled += Math.hypot(at.x - before.x, at.y - before.y);
    if (this.down.size > 1) this.pinch(event.pointerId, before, at);
    else if (this.loop) this.extendLoop(at);
    else this.target.pan(at.x - before.x, at.y - before.y);
  }

  private pinch(moved: number, before: Position, at: Position): void {
    const other = [...this.down].find(([id]) => id !== moved)?.[1];
    if (!other) return;
    const distance = (a: Position) => Math.max(Math.hypot(a.x - other.x, a.y - other.y), 1);
    const [px, py] = [(at.x + other.x) / 2, (at.y + other.y) / 2];
    this.target.zoom(distance(at) / distance(before), px, py);
    this.target.pan((at.x - before.x) / 2, (at.y - before.y) / 2);
  }

  private extendLoop(at: Position): void {
    const loop = this.loop ?? [];
    const [x = at.x, y = at.y] = loop.slice(-2);
    if (Math.hypot(at.x - x, at.y - y) < MIN_LOOP_STEP) return;
    loop.push(at.x, at.y);
    this.target.drawLoop(loop);
  }

  private release(event: PointerEvent, completed: boolean): void {
    if (!this.down.delete(event.pointerId)) return;
    const loop = this.loop;
    this.cancelLoop();
    if (!completed) return;
    if (loop && loop.length >= 6) this.target.closeLoop(loop);
    else if (this.travelled < MAX_TAP_MOVEMENT && !isZoomed()) {
      const at = this.position(event);
      this.target.hover(at.x, at.y, event.pointerType === "touch");
    }
  }

  /** A finger that was lifted has left as well, but what it tapped stays in sight. */
  private exit({ pointerType }: PointerEvent): void {
    if (this.down.size === 0 && pointerType !== "touch") this.target.leave();
  }

  private cancelLoop(): void {
    if (this.loop) this.target.drawLoop([]);
    this.loop = null;
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? PIXELS_PER_LINE : 1;
    const at = this.position(event);
    this.target.zoom(Math.exp(-event.deltaY * lines * WHEEL_SPEED), at.x, at.y);
  }
}
