/**
 * Colours and shapes of groups: eight colours that colour-blind people can tell apart, in four shapes,
 * so that 32 groups look different. A group keeps its appearance for the whole session.
 */

import type { Client } from "../api/client";

export type Rgb = readonly [number, number, number];

/** Found by search: they maximise the smallest difference in OKLab for normal, protan, deutan and tritan vision. */
export const LIGHT = [
  "#355ecf", "#e36907", "#14631d", "#ae7bcf", "#8d348c", "#52997b", "#5c0605", "#1e2d63",
] as const; // prettier-ignore
export const DARK = [
  "#47ace2", "#ad651e", "#288772", "#f7a8aa", "#8d69c2", "#dfe57b", "#aaab59", "#92e5fa",
] as const; // prettier-ignore

export const SHAPES = ["disc", "square", "triangle", "ring"] as const;

/** Indices into the colours and the shapes. */
export interface Appearance {
  hue: number;
  shape: number;
}

export function rgb(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

export function appearance(slot: number): Appearance {
  return { hue: slot % LIGHT.length, shape: Math.floor(slot / LIGHT.length) % SHAPES.length };
}

export function colourOf(slot: number, dark: boolean): string {
  return (dark ? DARK : LIGHT)[appearance(slot).hue] ?? LIGHT[0];
}

/** The places of groups, which the server keeps for the whole session. */
export class Slots {
  private readonly slots = new Map<number, number>();

  assign(groups: readonly { number: number; place: number }[]): void {
    this.slots.clear();
    for (const { number, place } of groups) this.slots.set(number, place);
  }

  of(number: number): number {
    return this.slots.get(number) ?? 0;
  }
}

const known = new Map<string, Slots>();

/** The slots of a collection and orientation, the same on the map and among the groups. */
export function slotsFor(client: Client): Slots {
  const key = client.eventsUrl;
  const slots = known.get(key) ?? new Slots();
  known.set(key, slots);
  return slots;
}
