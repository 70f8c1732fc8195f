/** Acts of the person on groups: one at a time, each with a message and a way back. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { ActsApi, type Acted } from "../acts-api";
import { Fault, type Api } from "../api";
import type { Desk } from "../desk";

/** What happened last, in words; `number` takes it back. */
export interface Said {
  text: string;
  number: number | null;
  tone: "done" | "fault";
}

interface State {
  said: Said | null;
  busy: boolean;
}

/** Kept beside the views: an act may lead to another view, and its message goes with the person. */
class Board {
  state: State = { said: null, busy: false };
  private readonly listeners = new Set<() => void>();

  set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    for (const listen of this.listeners) listen();
  }

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

const boards = new Map<string, Board>();

/** One per pile and orientation. */
function boardOf(api: Api): Board {
  const key = api.path("");
  const board = boards.get(key) ?? new Board();
  boards.set(key, board);
  return board;
}

export interface Acts extends State {
  api: ActsApi;
  /** Do one act; whether it was taken. While another is on its way nothing happens. */
  perform: (work: (api: ActsApi) => Promise<Acted>) => Promise<boolean>;
  undo: () => Promise<void>;
  close: () => void;
}

function inWords(problem: unknown): string {
  const fault = problem instanceof Fault ? problem : new Fault(0, String(problem));
  return `Nothing was changed. ${fault.message} ${fault.whatToDo}`.trim();
}

export function useActs(desk: Desk): Acts {
  const board = boardOf(desk.api);
  const api = useMemo(() => new ActsApi(desk.api), [desk.api]);
  const [, draw] = useState(0);
  useEffect(() => board.listen(() => draw((n) => n + 1)), [board]);

  /** The board is asked, not what was drawn: keys come quickly. */
  const alone = async (work: () => Promise<Said>): Promise<boolean> => {
    if (board.state.busy) return false;
    board.set({ busy: true });
    try {
      board.set({ said: await work(), busy: false });
      desk.refresh();
      return true;
    } catch (problem) {
      const number = board.state.said?.number ?? null;
      board.set({ said: { text: inWords(problem), number, tone: "fault" }, busy: false });
      return false;
    }
  };

  return {
    ...board.state,
    api,
    perform: (work) =>
      alone(async () => {
        const { message, number } = await work(api);
        return { text: message, number, tone: "done" };
      }),
    undo: async () => {
      const number = board.state.said?.number ?? null;
      if (number === null) return;
      await alone(async () => {
        await desk.api.takeAway(number);
        await desk.api.refit(); // the groups go back now, not with the next answers
        return { text: "Taken back. The groups are refreshed without it.", number: null, tone: "done" };
      });
    },
    close: () => board.set({ said: null }),
  };
}
