/** News from the server. All tabs of a browser share one connection: there are only a few to a host. */

/** What the server tells: `answers`, `refit`, `map` or `job`, with its details. */
export interface News {
  kind: string;
  data: Record<string, unknown>;
}

const KINDS = ["answers", "refit", "map", "job"];
type Message = News | "open" | "lost" | "hello";

function parsed(text: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * Hear what the server tells at an address, until the returned function is called.
 *
 * `live` is told whether news come by themselves; where they do not, one has to ask now and then.
 */
export function follow(
  address: string,
  tell: (news: News) => void,
  live: (on: boolean) => void,
): () => void {
  const able = "EventSource" in globalThis && "BroadcastChannel" in globalThis && !!navigator.locks;
  if (!able) return () => undefined;
  const name = `samekind:${address}`;
  const channel = new BroadcastChannel(name);
  const ended = new AbortController();
  let source: EventSource | null = null;

  const hear = (message: Message) => {
    if (message === "open" || message === "lost") live(message === "open");
    else if (message === "hello") {
      if (source?.readyState === EventSource.OPEN) channel.postMessage("open");
    } else tell(message);
  };
  const say = (message: Message) => {
    channel.postMessage(message);
    hear(message);
  };
  channel.onmessage = (event: MessageEvent<Message>) => hear(event.data);
  channel.postMessage("hello" satisfies Message);

  /** Held by one tab at a time; when it is closed, the next one takes over. */
  const lead = () =>
    new Promise<void>((done) => {
      if (ended.signal.aborted) return done();
      source = new EventSource(address);
      source.onopen = () => say("open");
      source.onerror = () => say("lost");
      for (const kind of KINDS) {
        source.addEventListener(kind, (event: MessageEvent<string>) =>
          say({ kind, data: parsed(event.data) }),
        );
      }
      ended.signal.addEventListener("abort", () => {
        source?.close();
        source = null;
        done();
      });
    });
  navigator.locks.request(name, { signal: ended.signal }, lead).catch(() => undefined);
  return () => {
    ended.abort();
    channel.close();
  };
}
