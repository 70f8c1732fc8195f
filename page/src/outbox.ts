/** Holds the answer that is on its way until the server has it, also across a reload. */

import { Fault, type Done, type Told } from "./api";

export interface Outbox {
  held: () => Told | null;
  send: (told: Told, post: (told: Told) => Promise<Done>) => Promise<Done>;
  drop: () => void;
}

export function outbox(name: string, storage: Storage = localStorage): Outbox {
  const key = `samekind:unsent:${name}`;

  function held(): Told | null {
    try {
      const text = storage.getItem(key);
      return text === null ? null : (JSON.parse(text) as Told);
    } catch {
      return null;
    }
  }

  function keep(told: Told): void {
    try {
      storage.setItem(key, JSON.stringify(told));
    } catch {
      // A browser that keeps nothing still has the answer in memory while the page is open.
    }
  }

  function drop(): void {
    try {
      storage.removeItem(key);
    } catch {
      // Nothing was kept.
    }
  }

  async function send(told: Told, post: (told: Told) => Promise<Done>): Promise<Done> {
    keep(told);
    try {
      const done = await post(told);
      drop();
      return done;
    } catch (fault) {
      // Only an answer that the server understood and refused is given up.
      if (fault instanceof Fault && !fault.passing) drop();
      throw fault;
    }
  }

  return { held, send, drop };
}

/** Seconds to wait before the n-th try to send an answer again. */
export function patience(tries: number): number {
  return Math.min(30, 2 ** tries);
}
