import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../src/api/client";
import { type Options, type Resource, useResource } from "../src/api/use-resource";

/** A request that the test answers when it likes. */
interface Call {
  name: string;
  signal: AbortSignal;
  resolve: (data: string) => void;
  reject: (problem: unknown) => void;
}

let calls: Call[];
let resource: Resource<string>;
/** What each render showed: the inputs and the value. */
let renders: [name: string | null, data: string | null][];

function Probe({ name, options }: { name: string | null; options?: Options<string> }) {
  resource = useResource(
    name === null
      ? null
      : (signal) =>
          new Promise((resolve, reject) => {
            calls.push({ name, signal, resolve, reject });
          }),
    [name],
    options,
  );
  renders.push([name, resource.data]);
  return null;
}

const show = (name: string | null, options: Options<string> = {}) =>
  act(() => render(<Probe name={name} options={options} />, document.body));
const call = (k: number) => calls[k] as Call;
const reply = (k: number, data: string) => act(async () => call(k).resolve(data));
const fail = (k: number, problem: unknown) => act(async () => call(k).reject(problem));
const wait = (ms: number) => act(async () => void (await vi.advanceTimersByTimeAsync(ms)));

beforeEach(() => {
  calls = [];
  renders = [];
});
afterEach(() => {
  render(null, document.body);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("it is loading until the reply arrives", async () => {
  await show("a");
  expect(resource).toMatchObject({ data: null, error: null, loading: true });
  await reply(0, "A");
  expect(resource).toMatchObject({ data: "A", error: null, loading: false });
  expect(calls).toHaveLength(1);
});

test("without anything to load it waits, and loads once there is", async () => {
  await show(null);
  expect(resource).toMatchObject({ data: null, loading: false });
  expect(calls).toHaveLength(0);
  await show("a");
  expect(resource.loading).toBe(true);
  await reply(0, "A");
  expect(resource.data).toBe("A");
});

test("an error is kept until a retry succeeds", async () => {
  await show("a");
  await fail(0, new ApiError(500, "Broken."));
  expect(resource).toMatchObject({ data: null, loading: false });
  expect(resource.error?.message).toBe("Broken.");
  await act(() => resource.reload());
  expect(resource).toMatchObject({ loading: true });
  expect(resource.error?.message).toBe("Broken.");
  await reply(1, "A");
  expect(resource).toMatchObject({ data: "A", error: null, loading: false });
});

test("a server that cannot be reached is asked again until it is back", async () => {
  vi.useFakeTimers();
  await show("a");
  for (const k of [0, 1]) {
    await fail(k, new ApiError(0, "Away."));
    await wait(5000);
    expect(calls).toHaveLength(k + 2);
  }
  await reply(2, "A");
  expect(resource).toMatchObject({ data: "A", error: null });
  await act(() => resource.reload());
  await fail(3, new ApiError(500, "Broken."));
  await wait(60_000);
  expect(calls).toHaveLength(4); // what the server says is left to the person
});

test("anything that is thrown becomes an ApiError", async () => {
  await show("a");
  await fail(0, new TypeError("odd"));
  expect(resource.error).toBeInstanceOf(ApiError);
  expect(resource.error?.message).toContain("odd");
});

test("the old value stays while it is loaded again, also when that fails", async () => {
  await show("a", { refreshOn: [1] });
  await reply(0, "A");
  await show("a", { refreshOn: [2] });
  expect(resource).toMatchObject({ data: "A", loading: true });
  await fail(1, new ApiError(0, "Away."));
  expect(resource).toMatchObject({ data: "A", loading: false });
  expect(resource.error?.message).toBe("Away.");
});

test("a value of other inputs is never shown", async () => {
  await show("a");
  await reply(0, "A");
  await show("b");
  expect(resource).toMatchObject({ data: null, loading: true });
  await reply(1, "B");
  expect(resource.data).toBe("B");
  expect(renders).not.toContainEqual(["b", "A"]);
});

test("a late reply to an earlier request is ignored, and its signal aborted", async () => {
  await show("a");
  await show("b");
  expect(call(0).signal.aborted).toBe(true);
  await reply(1, "B");
  await reply(0, "A");
  expect(resource).toMatchObject({ data: "B", loading: false });
  await act(() => resource.reload());
  await act(() => resource.reload());
  await reply(3, "newest");
  await fail(2, new ApiError(500, "late"));
  expect(resource).toMatchObject({ data: "newest", error: null });
});

test("a reply after unmounting is ignored", async () => {
  await show("a", { poll: () => 1 });
  const before = resource;
  await act(() => render(null, document.body));
  expect(call(0).signal.aborted).toBe(true);
  await reply(0, "A");
  expect(resource).toBe(before);
  expect(calls).toHaveLength(1);
});

test("it polls as long as it is asked to, also after an error, and not after unmounting", async () => {
  vi.useFakeTimers();
  const poll = (data: string | null, error: ApiError | null) => (error ? 200 : data === "done" ? null : 100);
  await show("a", { poll });
  await reply(0, "working");
  await act(() => void vi.advanceTimersByTime(99));
  expect(calls).toHaveLength(1);
  await act(() => void vi.advanceTimersByTime(1));
  expect(calls).toHaveLength(2);
  await fail(1, new ApiError(0, "Away."));
  await act(() => void vi.advanceTimersByTime(199));
  expect(calls).toHaveLength(2);
  await act(() => void vi.advanceTimersByTime(1));
  await reply(2, "done");
  await act(() => void vi.advanceTimersByTime(1000));
  expect(calls).toHaveLength(3);
  await act(() => resource.reload());
  await reply(3, "working");
  await act(() => render(null, document.body));
  await act(() => void vi.advanceTimersByTime(1000));
  expect(calls).toHaveLength(4);
});

test("a known value replaces the one being loaded", async () => {
  await show("a");
  await act(() => resource.replace("known"));
  expect(resource).toMatchObject({ data: "known", loading: false });
  await reply(0, "A");
  expect(resource.data).toBe("known");
});

// -- events --------------------------------------------------------------------------------------

class FakeSource extends EventTarget {
  static last: FakeSource;
  static OPEN = 1;
  readyState = 1;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  closed = false;
  constructor(readonly url: string) {
    super();
    FakeSource.last = this;
  }
  close() {
    this.closed = true;
  }
  emit(kind: string) {
    this.dispatchEvent(new MessageEvent(kind, { data: "{}" }));
  }
}

class FakeChannel {
  onmessage: unknown = null;
  postMessage() {}
  close() {}
}

function withEvents() {
  vi.stubGlobal("EventSource", FakeSource);
  vi.stubGlobal("BroadcastChannel", FakeChannel);
  const request = async (_: string, __: object, lead: () => Promise<void>) => lead();
  vi.stubGlobal("navigator", { ...navigator, locks: { request } });
}

test("it is loaded again when the server announces a change, and only of the kinds it asked for", async () => {
  withEvents();
  await show("a", { events: { url: "/api/events", kinds: ["map"], fallbackMs: 1000 } });
  await reply(0, "A");
  expect(FakeSource.last.url).toBe("/api/events");
  await act(() => FakeSource.last.emit("answers"));
  expect(calls).toHaveLength(1);
  await act(() => FakeSource.last.emit("map"));
  expect(calls).toHaveLength(2);
  await reply(1, "A2");
  expect(resource.data).toBe("A2");
  await act(() => render(null, document.body));
  expect(FakeSource.last.closed).toBe(true);
});

test("it polls only while events do not arrive", async () => {
  withEvents();
  vi.useFakeTimers();
  await show("a", { events: { url: "/api/events", kinds: ["map"], fallbackMs: 1000 } });
  await reply(0, "A");
  await act(() => void vi.advanceTimersByTime(1000));
  expect(calls).toHaveLength(2);
  await act(() => FakeSource.last.onopen?.());
  await act(() => void vi.advanceTimersByTime(5000));
  expect(calls).toHaveLength(2);
  await act(() => FakeSource.last.onerror?.());
  await act(() => void vi.advanceTimersByTime(1000));
  expect(calls).toHaveLength(3);
});
