/** The state of one orientation: the open question, the latest answers, the answer being sent. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, Client } from "../api/client";
import { subscribe } from "../api/events";
import type { AnswerResult, AnswerView, NewAnswer, OpenQuestion, SessionView } from "../api/schema";
import { useResource } from "../api/use-resource";
import { createOutbox, retryDelay } from "./outbox";
import { preload } from "./preload";
import { useStopwatch } from "./use-stopwatch";

/** How often to look whether a refit has finished, with and without events from the server. */
const REFIT_POLL_LIVE_MS = 3000;
const REFIT_POLL_MS = 700;

export interface Workspace {
  client: Client;
  session: SessionView | null;
  now: OpenQuestion | null;
  /** The latest answers. A new list each time they are read: other data may depend on it. */
  recent: AnswerView[];
  /** The answer that is being sent. */
  sending: NewAnswer | null;
  error: ApiError | null;
  /** Answer the open question; with the name of the new group that the answer starts. */
  answer: (choice: string, name?: string) => void;
  /** Name the group that a choice of the open question stands for. */
  nameGroup: (choice: string, name: string) => void;
  back: () => void;
  skip: () => void;
  change: (number: number, choice: string) => Promise<void>;
  remove: (number: number) => Promise<void>;
  /** Let an answer count again that a change by hand has set aside. */
  restore: (number: number) => Promise<void>;
  retry: () => void;
  refresh: () => void;
}

/** State that can be read before the next render: keys may be pressed in quick succession. */
function useImmediateState<T>(initial: T): [{ readonly current: T }, (value: T) => void] {
  const state = useRef(initial);
  const [, render] = useState(0);
  const set = useCallback((value: T) => {
    state.current = value;
    render((n) => n + 1);
  }, []);
  return [state, set];
}

/** Two windows answered one question differently: explain it to the second one. */
function explain(error: ApiError): ApiError {
  if (error.type !== "answered-already") return error;
  return new ApiError(
    error.status,
    "This question was already answered in another window, so your answer was not saved.",
    "You can change that answer in the list of latest answers.",
    error.type,
  );
}

/** Merge news into what is shown; a question that someone is looking at is not replaced. */
export function mergeNow(shown: OpenQuestion | null, found: OpenQuestion, focused: boolean): OpenQuestion {
  const question = shown?.question ?? null;
  if (question === null || question.number === found.question?.number || !focused) return found;
  return { ...found, question };
}

/** Use one orientation. A component that switches orientations must be mounted again (`key`). */
export function useWorkspace(name: string | null): Workspace {
  const client = useMemo(() => new Client(name), [name]);
  const outbox = useMemo(() => createOutbox(() => client.ledger), [client]);
  const session = useResource(() => client.get("/api/session"), [client]);
  const recent = useResource(() => client.get("/api/answers", { query: { mine: true } }), [client]);
  const [now, setNow] = useImmediateState<OpenQuestion | null>(null);
  const [sending, setSending] = useImmediateState<NewAnswer | null>(null);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const busy = useRef(false);
  const attempts = useRef(0);

  /** Make one change at a time. After a rejected one the open question is read again. */
  const change = useCallback(
    async (request: () => Promise<AnswerResult>) => {
      if (busy.current) return;
      busy.current = true;
      try {
        const done = await request();
        if (done.now.question?.number !== now.current?.question?.number) await preload(done.now.question);
        setSending(null);
        setNow(done.now);
        setProblem(null);
      } catch (caught) {
        const error = explain(ApiError.from(caught));
        if (!error.retryable) await client.get("/api/question").then(setNow, () => undefined);
        setProblem(error);
      } finally {
        busy.current = false;
      }
      recent.reload(); // in the background: the next question can be answered at once
    },
    [client, recent.reload],
  );

  const send = useCallback(
    async (answer: NewAnswer) => {
      setSending(answer);
      await change(() => outbox.send(answer, (body) => client.post("/api/answers", { body })));
      setSending(outbox.pending());
      if (outbox.pending() === null) attempts.current = 0;
    },
    [change, client, outbox],
  );

  const load = useCallback(async () => {
    const before = now.current;
    try {
      const found = await client.get("/api/question");
      if (!busy.current && before === now.current) setNow(found);
      setProblem(null);
    } catch (caught) {
      setProblem(ApiError.from(caught));
      return;
    }
    attempts.current = 0;
    const unsent = outbox.pending();
    if (unsent !== null) await send(unsent);
  }, [client, outbox, send]);

  useEffect(() => void load(), [load]);

  // An answer that could not be delivered is sent again, at growing intervals. Without one, a server
  // that cannot be reached is looked for: the warning goes away when it is back.
  useEffect(() => {
    if (!problem?.retryable || (sending.current === null && problem.status !== 0)) return;
    const timer = setTimeout(() => {
      attempts.current += 1;
      void (sending.current === null ? load() : send(sending.current));
    }, retryDelay(attempts.current) * 1000);
    return () => clearTimeout(timer);
  }, [problem, send, load]);

  const polling = useRef<"no" | "yes" | "again">("no");
  const poll = useCallback(async () => {
    if (busy.current) return;
    if (polling.current !== "no") {
      polling.current = "again"; // the reply under way may be older than the news
      return;
    }
    do {
      polling.current = "yes";
      const before = now.current;
      const found = await client.get("/api/question").catch((caught) => {
        const error = ApiError.from(caught);
        if (error.isOtherLedger) setProblem(error);
        return null;
      });
      if (found !== null && !busy.current && before === now.current) {
        setNow(mergeNow(before, found, document.hasFocus()));
      }
    } while ((polling.current as string) === "again");
    polling.current = "no";
  }, [client]);

  // A pile may have grown since: with each new grouping, read again what is in it.
  const snapshot = now.current?.progress.snapshot;
  const known = useRef(snapshot);
  useEffect(() => {
    if (known.current !== undefined && snapshot !== known.current) session.reload();
    known.current = snapshot;
  }, [snapshot]);

  const refitting = now.current?.progress.refitting ?? false;
  const [live, setLive] = useState(false);
  useEffect(() => {
    if (!refitting) return;
    const timer = setInterval(() => void poll(), live ? REFIT_POLL_LIVE_MS : REFIT_POLL_MS);
    return () => clearInterval(timer);
  }, [refitting, live, poll]);

  useEffect(
    () =>
      subscribe(
        client.eventsUrl,
        ({ kind, data }) => {
          const shown = now.current?.progress;
          if (kind === "answers" && data.answers !== shown?.answers && !busy.current) {
            void poll();
            recent.reload();
          } else if (kind === "refit") {
            const known = data.snapshot === shown?.snapshot && data.refitting === shown?.refitting;
            if (!known) void poll();
          }
        },
        setLive,
      ),
    [client, recent.reload, poll],
  );

  const refresh = () => {
    session.reload();
    recent.reload();
    void load();
  };
  const seconds = useStopwatch(now.current?.question?.number ?? null);
  const openNumber = () => now.current?.question?.number ?? null;
  return {
    client,
    session: session.data,
    now: now.current,
    recent: recent.data?.answers ?? NO_ANSWERS,
    sending: sending.current,
    error: problem ?? session.error,
    answer: (choice, name = "") => {
      const number = openNumber();
      if (number === null || busy.current || sending.current !== null) return;
      void send({ number, choice, seconds: seconds(), ...(name && { name }) });
    },
    nameGroup: (choice, name) => {
      const number = openNumber();
      if (number === null || sending.current !== null) return;
      const path = { number, choice };
      void change(async () => ({
        number,
        now: await client.put("/api/questions/{number}/choices/{choice}", { path, body: { name } }),
      }));
    },
    back: () => {
      if (sending.current !== null) return;
      void change(async () => {
        // Read again: the list on the page may not have the latest answer yet.
        const last = (await client.get("/api/answers", { query: { limit: 1 } })).answers[0];
        if (last) return client.delete("/api/answers/{number}", { path: { number: last.number } });
        return { number: null, now: await client.get("/api/question") };
      });
    },
    skip: () => {
      const number = openNumber();
      if (number === null || sending.current !== null) return;
      void change(() => client.post("/api/skip", { body: { number } }));
    },
    change: (number, choice) =>
      change(() => client.put("/api/answers/{number}", { path: { number }, body: { choice } })),
    remove: (number) => change(() => client.delete("/api/answers/{number}", { path: { number } })),
    restore: (number) => change(() => client.post("/api/answers/{number}/restore", { path: { number } })),
    retry: () => (sending.current === null ? refresh() : void send(sending.current)),
    refresh,
  };
}

const NO_ANSWERS: AnswerView[] = [];
