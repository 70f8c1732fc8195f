/** Mouse, pen and fingers on the map: drag, wheel, pinch, loop. */

export interface Handled {
  readonly mode: "pan" | "lasso";
  pan(dx: number, dy: number): void;
  zoom(factor: number, px?: number, py?: number): void;
  hover(px: number, py: number): void;
  leave(): void;
  loop(drawn: readonly number[]): void;
  close(drawn: readonly number[]): void;
}

/** A press that moves less than this, in pixels, is a tap. */
const TAP = 5;
/** Corners of a loop are so far apart at least, in pixels. */
const STEP = 3;

type Spot = { x: number; y: number };

export class Hand {
  private readonly down = new Map<number, Spot>();
  private loop: number[] | null = null;
  private travelled = 0;
  private readonly ended = new AbortController();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly map: Handled,
  ) {
    const listen = { signal: this.ended.signal };
    canvas.addEventListener("pointerdown", (event) => this.press(event), listen);
    canvas.addEventListener("pointermove", (event) => this.move(event), listen);
    canvas.addEventListener("pointerup", (event) => this.release(event, true), listen);
    canvas.addEventListener("pointercancel", (event) => this.release(event, false), listen);
    canvas.addEventListener("pointerleave", () => this.down.size === 0 && map.leave(), listen);
    canvas.addEventListener("wheel", (event) => this.wheel(event), { ...listen, passive: false });
    addEventListener("keydown", (event) => event.key === "Escape" && this.drop(), listen);
  }

  dispose(): void {
    this.ended.abort();
  }

  private spot(event: MouseEvent): Spot {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    const at = this.spot(event);
    this.canvas.setPointerCapture(event.pointerId);
    this.down.set(event.pointerId, at);
    this.map.leave();
    if (this.down.size > 1) {
      this.drop(); // two fingers zoom, also where one draws
      return;
    }
    this.travelled = 0;
    if (this.map.mode === "lasso" || event.shiftKey) this.loop = [at.x, at.y];
  }

  private move(event: PointerEvent): void {
    const at = this.spot(event);
    const before = this.down.get(event.pointerId);
    if (before === undefined) {
      if (event.pointerType !== "touch") this.map.hover(at.x, at.y);
      return;
    }
    this.down.set(event.pointerId, at);
    this.travelled += Math.hypot(at.x - before.x, at.y - before.y);
    if (this.down.size > 1) this.pinch(event.pointerId, before, at);
    else if (this.loop) this.draw(at);
    else this.map.pan(at.x - before.x, at.y - before.y);
  }

  private pinch(moved: number, before: Spot, at: Spot): void {
    const other = [...this.down].find(([id]) => id !== moved)?.[1];
    if (!other) return;
    const apart = (a: Spot) => Math.max(Math.hypot(a.x - other.x, a.y - other.y), 1);
    const [px, py] = [(at.x + other.x) / 2, (at.y + other.y) / 2];
    this.map.zoom(apart(at) / apart(before), px, py);
    this.map.pan((at.x - before.x) / 2, (at.y - before.y) / 2);
  }

  private draw(at: Spot): void {
    const loop = this.loop ?? [];
    const [x = at.x, y = at.y] = loop.slice(-2);
    if (Math.hypot(at.x - x, at.y - y) < STEP) return;
    loop.push(at.x, at.y);
    this.map.loop(loop);
  }

  private release(event: PointerEvent, meant: boolean): void {
    if (!this.down.delete(event.pointerId)) return;
    const loop = this.loop;
    this.drop();
    if (!meant) return;
    if (loop && loop.length >= 6) this.map.close(loop);
    else if (this.travelled < TAP) {
      const at = this.spot(event);
      this.map.hover(at.x, at.y);
    }
  }

  private drop(): void {
    if (this.loop) this.map.loop([]);
    this.loop = null;
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const at = this.spot(event);
    this.map.zoom(Math.exp(-event.deltaY * lines * 0.0016), at.x, at.y);
  }
}
