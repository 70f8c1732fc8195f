import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useWorkspace, type Workspace } from "../src/workspace/use-workspace";

let workspace: Workspace;
/** What the server has: items of the pile, and the grouping that is shown. */
let items: number;
let snapshot: number;
let asked: string[];

const now = () => ({ question: null, progress: { answers: 1, snapshot, refitting: false } });

async function serve(path: string, init: RequestInit = {}): Promise<Response> {
  const { pathname } = new URL(path, "http://here");
  asked.push(`${init.method ?? "GET"} ${pathname}`);
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

beforeEach(async () => {
  [items, snapshot, asked] = [48, 1, []];
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
