import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useWorkspace, type Workspace } from "../src/workspace/use-workspace";

let workspace: Workspace;
/** What the server has: items of the pile, and the grouping that is shown. */
let items: number;
let snapshot: number;
let asked: string[];
/** Paths of the server that cannot be reached now. */
let away: RegExp;

const now = () => ({ question: null, progress: { answers: 1, snapshot, refitting: false } });

async function serve(path: string, init: RequestInit = {}): Promise<Response> {
  const { pathname } = new URL(path, "http://here");
  asked.push(`${init.method ?? "GET"} ${pathname}`);
  if (away.test(pathname)) throw new TypeError("Failed to fetch");
  const replies: Record<string, unknown> = {
    "/api/session": { items, orientations: [], titles: {} },
    "/api/question": now(),
    "/api/answers": { answers: [] },
  };
  return new Response(JSON.stringify(replies[pathname] ?? { number: 1, now: now() }));
}

function Probe() {
  workspace = useWorkspace(null);
  return null;
}

const wait = (ms: number) => act(async () => void (await vi.advanceTimersByTimeAsync(ms)));

beforeEach(async () => {
  [items, snapshot, asked, away] = [48, 1, [], /^$/];
  vi.stubGlobal("fetch", serve);
  vi.stubGlobal(
    "EventSource",
    class {
      addEventListener() {}
      close() {}
    },
  );
  await act(async () => render(<Probe />, document.body));
});
afterEach(() => {
  render(null, document.body);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("with a new grouping it reads again what is in the pile", async () => {
  await vi.waitFor(() => expect(workspace.session?.items).toBe(48));
  [items, snapshot] = [384, 2];
  await act(async () => workspace.remove(1));
  await vi.waitFor(() => expect(workspace.session?.items).toBe(384));
});

test("as long as the grouping is the same, it does not", async () => {
  await vi.waitFor(() => expect(workspace.session?.items).toBe(48));
  await act(async () => workspace.remove(1));
  expect(asked.filter((one) => one === "GET /api/session")).toHaveLength(1);
});

test.each([/session/, /answers/, /./])("the warning goes away when the server is back (%s)", async (gone) => {
  await vi.waitFor(() => expect(workspace.session?.items).toBe(48));
  vi.useFakeTimers();
  [away, snapshot] = [gone, 2];
  await act(async () => workspace.remove(1));
  await wait(100);
  const warned = workspace.error?.status;
  away = /^$/;
  await wait(10_000);
  expect([warned, workspace.error]).toEqual([0, null]);
});

test("what the server said stays until the person has read it", async () => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) =>
    init.method === "DELETE" ? new Response("{}", { status: 500 }) : serve(path, init),
  );
  await act(async () => workspace.remove(1));
  await wait(60_000);
  expect(workspace.error?.status).toBe(500);
});

test("a page of another pile says so, sends nothing twice, and keeps the answer for its own", async () => {
  await vi.waitFor(() => expect(workspace.session?.items).toBe(48));
  localStorage.clear();
  const headers = { "X-Samekind-Ledger": "apples" };
  const asks = { ...now(), question: { number: 4, items: [], parts: [], choices: [] } };
  let other = false;
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    asked.push(`${init.method ?? "GET"} ${path}`);
    const error = { type: "other-ledger", message: "another pile", what_to_do: "Reload." };
    if (other) return new Response(JSON.stringify({ error }), { status: 409 });
    return path.startsWith("/api/question") ? new Response(JSON.stringify(asks), { headers }) : serve(path, init);
  });
  await act(async () => render(<Probe key="again" />, document.body));
  await vi.waitFor(() => expect(workspace.now?.question?.number).toBe(4));
  other = true;
  asked = [];
  await act(async () => workspace.answer("same"));
  await vi.waitFor(() => expect(workspace.error?.isOtherLedger).toBe(true));
  await act(async () => workspace.answer("different"));
  expect(asked.filter((one) => one.startsWith("POST"))).toEqual(["POST /api/answers"]);
  expect(localStorage.getItem("samekind:unsent:apples")).toContain('"same"');
});
