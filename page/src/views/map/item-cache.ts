/** Items by position, fetched when needed and kept for a while. */

import { useMemo } from "preact/hooks";
import type { Client } from "../../api/client";
import type { ItemView } from "../../api/schema";
import { useResource } from "../../api/use-resource";

/** Beyond this many, the items used least recently are dropped. */
const MAX_ITEMS = 400;
/** A pointer that passes over points faster than this fetches nothing. */
const DEBOUNCE_MS = 40;

export class ItemCache {
  private readonly items = new Map<number, ItemView>();

  constructor(private readonly fetchItems: (positions: number[]) => Promise<ItemView[]>) {}

  get(position: number): ItemView | undefined {
    return this.items.get(position);
  }

  async read(positions: readonly number[]): Promise<(ItemView | undefined)[]> {
    const missing = positions.filter((position) => !this.items.has(position));
    if (missing.length > 0) {
      const items = await this.fetchItems(missing);
      missing.forEach((position, k) => {
        const item = items[k];
        if (item) this.items.set(position, item);
      });
    }
    const found = positions.map((position) => this.items.get(position));
    positions.forEach((position, k) => {
      const item = found[k];
      if (!item) return;
      this.items.delete(position); // to the end: used most recently
      this.items.set(position, item);
    });
    for (const old of [...this.items.keys()].slice(0, Math.max(0, this.items.size - MAX_ITEMS))) {
      this.items.delete(old);
    }
    return found;
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The items at these positions, as soon as they are there. */
export function useItems(client: Client, positions: readonly number[]): (ItemView | undefined)[] {
  const cache = useMemo(
    () =>
      new ItemCache(async (missing) => {
        const query = { positions: missing.join(",") };
        return (await client.get("/api/map/items", { query })).items;
      }),
    [client],
  );
  const cached = positions.map((position) => cache.get(position));
  const complete = cached.every((item) => item !== undefined);
  // An error is not shown: a missing preview is not worth a message.
  const { data } = useResource(
    complete
      ? null
      : async (signal) => {
          await pause(DEBOUNCE_MS);
          return signal.aborted ? [] : cache.read(positions);
        },
    [cache, positions.join(",")],
  );
  return data ?? cached;
}

/** A few of many, evenly spread. */
export function sample(all: readonly number[], n: number): number[] {
  if (all.length <= n) return [...all];
  return Array.from({ length: n }, (_, k) => all[Math.floor((k * all.length) / n)] ?? 0);
}
