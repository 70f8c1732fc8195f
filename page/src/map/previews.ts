/** Items of points, fetched when they are wanted and kept for a while. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { ActsApi } from "../acts-api";
import type { Item } from "../api";

/** So many items are kept; beyond that the ones wanted longest ago go. */
const KEPT = 400;
/** A pointer that only passes by asks for nothing. */
const PAUSE = 40;

export class Shelf {
  private readonly kept = new Map<number, Item>();

  constructor(private readonly read: (positions: number[]) => Promise<Item[]>) {}

  get(position: number): Item | undefined {
    return this.kept.get(position);
  }

  async want(positions: readonly number[]): Promise<(Item | undefined)[]> {
    const missing = positions.filter((one) => !this.kept.has(one));
    if (missing.length > 0) {
      const items = await this.read(missing);
      missing.forEach((position, k) => {
        const item = items[k];
        if (item) this.kept.set(position, item);
      });
    }
    const wanted = positions.map((one) => this.kept.get(one));
    positions.forEach((one, k) => {
      const item = wanted[k];
      if (!item) return;
      this.kept.delete(one); // to the end: wanted just now
      this.kept.set(one, item);
    });
    for (const old of [...this.kept.keys()].slice(0, Math.max(0, this.kept.size - KEPT))) {
      this.kept.delete(old);
    }
    return wanted;
  }
}

/** The items at some positions, as soon as they are there. */
export function useItems(api: ActsApi, positions: readonly number[]): (Item | undefined)[] {
  const shelf = useMemo(() => new Shelf(api.mapItems), [api]);
  const [, draw] = useState(0);
  const key = positions.join(",");
  useEffect(() => {
    if (positions.every((one) => shelf.get(one))) return;
    let wanted = true;
    const timer = setTimeout(() => {
      shelf.want(positions).then(
        () => wanted && draw((n) => n + 1),
        () => undefined, // a preview that does not come is not worth a message
      );
    }, PAUSE);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [shelf, key]);
  return positions.map((one) => shelf.get(one));
}

/** A few of many, evenly spread. */
export function spread(all: readonly number[], few: number): number[] {
  if (all.length <= few) return [...all];
  return Array.from({ length: few }, (_, k) => all[Math.floor((k * all.length) / few)] ?? 0);
}
