/** Events from the server. All tabs of a browser share one connection: browsers allow few per host. */

const KINDS = ["answers", "refit", "map", "job"] as const;

export type EventKind = (typeof KINDS)[number];

/** What the server announces: the state of things, not what changed. */
export interface ServerEvent {
  kind: EventKind;
  data: Record<string, unknown>;
}

/** What tabs tell each other: an event, whether the connection is up, or a request to say so. */
type Message = ServerEvent | "open" | "lost" | "hello";

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * Listen to the events at an address until the returned function is called.
 *
 * `onLive` is called with whether events arrive on their own; where they do not, poll.
 */
export function subscribe(
  url: string,
  onEvent: (event: ServerEvent) => void,
  onLive: (live: boolean) => void,
): () => void {
  const supported = "EventSource" in globalThis && "BroadcastChannel" in globalThis && !!navigator.locks;
  if (!supported) return () => undefined;
  const name = `samekind:${url}`;
  const channel = new BroadcastChannel(name);
  const stopped = new AbortController();
  let source: EventSource | null = null;

  const receive = (message: Message) => {
    if (message === "open" || message === "lost") onLive(message === "open");
    else if (message === "hello") {
      if (source?.readyState === EventSource.OPEN) channel.postMessage("open");
    } else onEvent(message);
  };
  const broadcast = (message: Message) => {
    channel.postMessage(message);
    receive(message);
  };
  channel.onmessage = (event: MessageEvent<Message>) => receive(event.data);
  channel.postMessage("hello" satisfies Message);

  /** Hold the connection. One tab at a time does; when it closes, the next one takes over. */
  const lead = () =>
    new Promise<void>((release) => {
      if (stopped.signal.aborted) return release();
      source = new EventSource(url);
      source.onopen = () => broadcast("open");
      source.onerror = () => broadcast("lost");
      for (const kind of KINDS) {
        source.addEventListener(kind, (event: MessageEvent<string>) =>
          broadcast({ kind, data: parse(event.data) }),
        );
      }
      stopped.signal.addEventListener("abort", () => {
        source?.close();
        source = null;
        release();
      });
    });
  navigator.locks.request(name, { signal: stopped.signal }, lead).catch(() => undefined);
  return () => {
    stopped.abort();
    channel.close();
  };
}
