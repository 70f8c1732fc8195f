/** Changes to groups by hand: one at a time, each with a message and Undo. One that contradicts
 * earlier answers asks first. */

import { useEffect, useState } from "preact/hooks";
import { ApiError, type Client } from "../api/client";
import type { ActResult } from "../api/schema";
import type { Workspace } from "./use-workspace";

/** The most items that one act may name; the server rejects more. */
export const MAX_ITEMS_PER_ACT = 5_000;

/** What the last act did, in words; `undo` is the number of the answer to remove. */
export interface ActMessage {
  text: string;
  undo: number | null;
  tone: "done" | "error";
}

/** A question that the server asks before it sets earlier answers aside. */
export interface Confirmation {
  text: string;
  /** The word on the button: "Merge". */
  verb: string;
  decide: (go: boolean) => void;
}

interface State {
  message: ActMessage | null;
  confirmation: Confirmation | null;
  busy: boolean;
}

/** To be put into the body of an act: whether answers that contradict it are set aside. */
export interface Precedence {
  set_aside: boolean;
}

type Request = (client: Client, precedence: Precedence) => Promise<ActResult>;

/** Lives outside the views: an act may lead to another view, which then shows its message. */
class ActStore {
  state: State = { message: null, confirmation: null, busy: false };
  private readonly listeners = new Set<() => void>();

  set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    for (const notify of this.listeners) notify();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

const stores = new Map<string, ActStore>();

/** One store per collection and orientation. */
function storeFor(client: Client): ActStore {
  const key = client.eventsUrl;
  const store = stores.get(key) ?? new ActStore();
  stores.set(key, store);
  return store;
}

export interface Acts extends State {
  /** Perform one act; resolves to whether it succeeded. Does nothing while another is under way. */
  perform: (request: Request) => Promise<boolean>;
  undo: () => Promise<void>;
  dismiss: () => void;
}

export function useActs(workspace: Workspace): Acts {
  const { client } = workspace;
  const store = storeFor(client);
  const [, render] = useState(0);
  useEffect(() => store.subscribe(() => render((n) => n + 1)), [store]);

  // The store is asked, not the last render: keys may be pressed in quick succession.
  const exclusively = async (work: () => Promise<ActMessage | null>): Promise<boolean> => {
    if (store.state.busy) return false;
    store.set({ busy: true });
    try {
      const message = await work();
      store.set({ busy: false, ...(message && { message }) });
      if (message === null) return false;
      workspace.refresh();
      return true;
    } catch (problem) {
      const { message, whatToDo } = ApiError.from(problem);
      const text = `Nothing was changed. ${message} ${whatToDo}`.trim();
      const undo = store.state.message?.undo ?? null;
      store.set({ message: { text, undo, tone: "error" }, busy: false });
      return false;
    }
  };

  const confirmed = (error: ApiError): Promise<boolean> =>
    new Promise((resolve) => {
      const decide = (go: boolean) => {
        store.set({ confirmation: null });
        resolve(go);
      };
      const verb = error.message.split(" and set aside")[0] ?? "Continue";
      store.set({ confirmation: { text: error.message, verb, decide } });
    });

  const obeyed = async (request: Request): Promise<ActResult | null> => {
    try {
      return await request(client, { set_aside: false });
    } catch (problem) {
      const error = ApiError.from(problem);
      if (error.type !== "sets-aside") throw error;
      return (await confirmed(error)) ? request(client, { set_aside: true }) : null;
    }
  };

  return {
    ...store.state,
    perform: (request) =>
      exclusively(async () => {
        const done = await obeyed(request);
        return done && { text: done.message, undo: done.number, tone: "done" };
      }),
    undo: async () => {
      const number = store.state.message?.undo ?? null;
      if (number === null) return;
      await exclusively(async () => {
        await client.delete("/api/answers/{number}", { path: { number } });
        await client.post("/api/refit"); // now, not with the next answers
        return { text: "Undone. The groups are being updated.", undo: null, tone: "done" };
      });
    },
    dismiss: () => store.set({ message: null }),
  };
}
