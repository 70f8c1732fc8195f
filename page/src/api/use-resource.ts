/** Data from the server in a component: loading, error, retry, refresh. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError } from "./client";
import { type EventKind, subscribe } from "./events";

export interface Resource<T> {
  /** The latest value; it stays while it is loaded again. `null` before the first reply. */
  data: T | null;
  /** Why the last attempt failed; `null` once one succeeds. */
  error: ApiError | null;
  loading: boolean;
  /** Load again: after an error, or when something has changed. */
  reload: () => void;
  /** Use a value that is already known, such as the reply to a change. */
  replace: (data: T) => void;
}

export interface Options<T> {
  /** Load again when one of these changes, and keep showing the old value meanwhile. */
  refreshOn?: readonly unknown[];
  /** Load again when the server announces one of these; poll where events do not arrive. */
  events?: { url: string; kinds: readonly EventKind[]; fallbackMs: number };
  /** Milliseconds until the next load; `null` for none. Asked after each reply and each error. */
  poll?: (data: T | null, error: ApiError | null) => number | null;
}

interface State<T> {
  data: T | null;
  error: ApiError | null;
  loading: boolean;
  /** The resource that this state belongs to. */
  owner: symbol;
}

const NONE: readonly unknown[] = [];

/** How soon to ask again while the server cannot be reached. It may have been restarted. */
const UNREACHABLE_MS = 2000;

/**
 * Load a resource and keep it up to date.
 *
 * `load` is called for each combination of `inputs`, which identify the resource: a value of other
 * inputs is never returned. With `load` null there is nothing to load yet. A reply that arrives after
 * a later request, or after the component is gone, is ignored, and its signal is aborted. While the
 * server cannot be reached it is asked again and again.
 */
export function useResource<T>(
  load: ((signal: AbortSignal) => Promise<T>) | null,
  inputs: readonly unknown[],
  { refreshOn = NONE, events, poll }: Options<T> = {},
): Resource<T> {
  const owner = useMemo(() => Symbol("resource"), [...inputs]);
  const empty: State<T> = { data: null, error: null, loading: load !== null, owner };
  const [state, setState] = useState(empty);
  const current = state.owner === owner ? state : empty;

  const latest = useRef({ load, poll, empty });
  latest.current = { load, poll, empty };
  const request = useRef<AbortController | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>();

  const stop = useCallback(() => {
    request.current?.abort();
    clearTimeout(timer.current);
  }, []);

  const update = useCallback((change: Partial<State<T>>) => {
    setState((before) => {
      const { empty } = latest.current;
      return { ...(before.owner === empty.owner ? before : empty), ...change };
    });
  }, []);

  const reload = useCallback(() => {
    stop();
    const { load } = latest.current;
    if (load === null) return;
    const { signal } = (request.current = new AbortController());
    const settle = (data: T | null, error: ApiError | null) => {
      if (signal.aborted) return;
      update({ ...(error === null && { data }), error, loading: false });
      const again = error?.status === 0 ? UNREACHABLE_MS : null;
      const wait = latest.current.poll?.(data, error) ?? again;
      if (wait !== null) timer.current = setTimeout(reload, wait);
    };
    update({ loading: true });
    load(signal).then(
      (data) => settle(data, null),
      (problem: unknown) => settle(null, ApiError.from(problem)),
    );
  }, [stop, update]);

  useEffect(() => {
    reload();
    return stop;
  }, [reload, stop, owner, load === null, ...refreshOn]);

  useEffect(() => {
    if (events === undefined) return;
    let live = false;
    const fallback = setInterval(() => !live && !document.hidden && reload(), events.fallbackMs);
    const unsubscribe = subscribe(
      events.url,
      ({ kind }) => events.kinds.includes(kind) && reload(),
      (on) => (live = on),
    );
    return () => {
      clearInterval(fallback);
      unsubscribe();
    };
  }, [reload, events?.url]);

  return {
    data: current.data,
    error: current.error,
    loading: current.loading,
    reload,
    replace: (data) => {
      stop();
      update({ data, error: null, loading: false });
    },
  };
}
