/** Colours and shapes of groups: eight colours, told apart by people who are colour-blind, in four
 * shapes, so that 32 groups look different; the same group keeps its look while the page is open. */

import type { Api } from "../api";

export type Rgb = readonly [number, number, number];

/** Chosen by search: the least difference in OKLab with normal, protan, deutan and tritan sight. */
export const LIGHT = [
  "#355ecf", "#e36907", "#14631d", "#ae7bcf", "#8d348c", "#52997b", "#5c0605", "#1e2d63",
] as const; // prettier-ignore
export const DARK = [
  "#47ace2", "#ad651e", "#288772", "#f7a8aa", "#8d69c2", "#dfe57b", "#aaab59", "#92e5fa",
] as const; // prettier-ignore

export const SHAPES = ["disc", "square", "triangle", "ring"] as const;
export type Shape = (typeof SHAPES)[number];

export interface Look {
  /** Which of the eight colours. */
  hue: number;
  /** Which of the four shapes. */
  shape: number;
}

export function rgb(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

export function look(slot: number): Look {
  return { hue: slot % LIGHT.length, shape: Math.floor(slot / LIGHT.length) % SHAPES.length };
}

export function palette(dark: boolean): readonly string[] {
  return dark ? DARK : LIGHT;
}

export function colourOf(slot: number, dark: boolean): string {
  return palette(dark)[look(slot).hue] ?? LIGHT[0];
}

/** Which group has which look: a new group takes the first that is free. */
export class Slots {
  private readonly slots = new Map<number, number>();

  /** Let these groups have a look each; those that have gone give theirs back. */
  settle(numbers: readonly number[]): void {
    const there = new Set(numbers);
    for (const known of [...this.slots.keys()]) if (!there.has(known)) this.slots.delete(known);
    const used = new Set(this.slots.values());
    let free = 0;
    for (const number of numbers) {
      if (this.slots.has(number)) continue;
      while (used.has(free)) free += 1;
      this.slots.set(number, free);
      used.add(free);
    }
  }

  of(number: number): number {
    return this.slots.get(number) ?? 0;
  }
}

const known = new Map<string, Slots>();

/** The looks of the groups of a pile and an orientation, the same on the map and in the gallery. */
export function slotsOf(api: Api): Slots {
  const key = api.path("");
  const slots = known.get(key) ?? new Slots();
  known.set(key, slots);
  return slots;
}
