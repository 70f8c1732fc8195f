/** The state of one orientation on the page: the open question, the last answers, what is pending. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  Api,
  Fault,
  type Answer,
  type Done,
  type Now,
  type Session,
  type Told,
} from "./api";
import { follow } from "./events";
import { outbox, patience } from "./outbox";
import { ready } from "./preload";
import { pileHere } from "./start/pile";
import { useWatch } from "./watch";

export interface Desk {
  api: Api;
  about: Session | null;
  now: Now | null;
  recent: Answer[];
  /** The answer that is on its way. */
  sending: Told | null;
  fault: Fault | null;
  answer: (choice: string) => void;
  back: () => void;
  skip: () => void;
  change: (number: number, choice: string) => Promise<void>;
  takeAway: (number: number) => Promise<void>;
  retry: () => void;
  refresh: () => void;
}

/** State that is read back at once, before the page is drawn again: keys come quickly. */
function useLive<T>(first: T): [{ readonly current: T }, (value: T) => void] {
  const live = useRef(first);
  const [, draw] = useState(0);
  const set = useCallback((value: T) => {
    live.current = value;
    draw((n) => n + 1);
  }, []);
  return [live, set];
}

/** Where an answer waits: each pile has a place of its own. */
function ofBox(pile: string | null, session: string | null): string {
  return `${pile === null ? "" : `${pile}/`}${session ?? ""}`;
}

function asFault(problem: unknown): Fault {
  return problem instanceof Fault ? problem : new Fault(0, String(problem));
}

/** Of two windows that answer one question differently, the second is told so in plain words. */
function meanwhile(fault: Fault): Fault {
  if (fault.type !== "answered-already") return fault;
  const words = "This question was answered in another window meanwhile, so your answer was not taken.";
  return new Fault(fault.status, words, "It is among the last answers: change it there.", fault.type);
}

/** What is open now, while a question is on the screen: that is not replaced under one's fingers. */
export function renewed(shown: Now | null, found: Now, watched: boolean): Now {
  const [here, there] = [shown?.question ?? null, found.question];
  if (here === null || here.number === there?.number || !watched) return found;
  return { ...found, question: here };
}

/** For one orientation; a component that changes its orientation must be made anew (`key`). */
export function useDesk(name: string | null): Desk {
  const api = useMemo(() => new Api(name), [name]);
  const box = useMemo(() => outbox(ofBox(pileHere(), name)), [name]);
  const [about, setAbout] = useState<Session | null>(null);
  const [now, setNow] = useLive<Now | null>(null);
  const [recent, setRecent] = useState<Answer[]>([]);
  const [sending, setSending] = useLive<Told | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const busy = useRef(false);
  const tries = useRef(0);
  const looks = useRef(0);

  const look = useCallback(async () => {
    const turn = ++looks.current;
    const list = await api.answers();
    if (turn !== looks.current) return; // a later look is under way and knows more
    setRecent(list.answers);
  }, [api]);

  /** Do one thing at a time; what the server refuses is shown, and the question is read again. */
  const act = useCallback(
    async (work: () => Promise<Done>) => {
      if (busy.current) return;
      busy.current = true;
      try {
        const done = await work();
        if (done.now.question?.number !== now.current?.question?.number) await ready(done.now.question);
        setSending(null);
        setNow(done.now);
        setFault(null);
      } catch (problem) {
        const found = meanwhile(asFault(problem));
        if (!found.passing) await api.question().then(setNow, () => undefined);
        setFault(found);
      } finally {
        busy.current = false;
      }
      // Not waited for: the next question can be answered at once.
      void look().catch(() => undefined);
    },
    [api, look],
  );

  const send = useCallback(
    async (told: Told) => {
      setSending(told);
      await act(() => box.send(told, api.tell));
      setSending(box.held());
      if (box.held() === null) tries.current = 0;
    },
    [act, api, box],
  );

  const load = useCallback(async () => {
    try {
      setAbout(await api.about());
      setNow(await api.question());
      await look();
      setFault(null);
    } catch (problem) {
      setFault(asFault(problem));
      return;
    }
    const left = box.held();
    if (left !== null) await send(left);
  }, [api, box, look, send]);

  useEffect(() => void load(), [load]);

  // An answer that did not get through is sent again by itself, later and later.
  useEffect(() => {
    if (!fault?.passing || sending.current === null) return;
    const timer = setTimeout(() => {
      tries.current += 1;
      if (sending.current !== null) void send(sending.current);
    }, patience(tries.current) * 1000);
    return () => clearTimeout(timer);
  }, [fault, send]);

  const peeking = useRef<"no" | "yes" | "again">("no");
  const peek = useCallback(async () => {
    if (busy.current) return;
    if (peeking.current !== "no") {
      peeking.current = "again"; // what is being read may be older than the news
      return;
    }
    do {
      peeking.current = "yes";
      const before = now.current;
      const found = await api.question().catch(() => null);
      if (found !== null && !busy.current && before === now.current) {
        setNow(renewed(before, found, document.hasFocus()));
      }
    } while ((peeking.current as string) === "again");
    peeking.current = "no";
  }, [api]);

  // While the groups are refreshed, look now and then whether they are ready.
  const refitting = now.current?.progress.refitting ?? false;
  const [live, setLive] = useState(false);
  useEffect(() => {
    if (!refitting) return;
    const timer = setInterval(() => void peek(), live ? 3000 : 700);
    return () => clearInterval(timer);
  }, [refitting, live, peek]);

  // What other windows do, and when the groups are ready, is told by the server where it can be.
  useEffect(
    () =>
      follow(
        api.path("events"),
        ({ kind, data }) => {
          const shown = now.current?.progress;
          if (kind === "answers" && data.answers !== shown?.answers && !busy.current) {
            void peek();
            void look().catch(() => undefined);
          } else if (kind === "refit") {
            const same = data.snapshot === shown?.snapshot && data.refitting === shown?.refitting;
            if (!same) void peek();
          }
        },
        setLive,
      ),
    [api, look, peek],
  );

  const seconds = useWatch(now.current?.question?.number ?? null);
  const number = () => now.current?.question?.number ?? null;
  return {
    api,
    about,
    now: now.current,
    recent,
    sending: sending.current,
    fault,
    answer: (choice) => {
      const open = number();
      if (open === null || busy.current || sending.current !== null) return;
      void send({ number: open, choice, seconds: seconds() });
    },
    back: () => {
      if (sending.current !== null) return;
      void act(async () => {
        // Asked anew: the list on the page may not know yet what was told a moment ago.
        const last = (await api.answers(0, 1)).answers[0];
        return last ? api.takeAway(last.number) : { number: null, now: await api.question() };
      });
    },
    skip: () => {
      const open = number();
      if (open !== null && sending.current === null) void act(() => api.skip(open));
    },
    change: (which, choice) => act(() => api.change(which, choice)),
    takeAway: (which) => act(() => api.takeAway(which)),
    retry: () => void (sending.current === null ? load() : send(sending.current)),
    refresh: () => void load(),
  };
}
