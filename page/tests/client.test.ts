import { afterEach, expect, test, vi } from "vitest";
import openapi from "../openapi.json";
import { ApiError, Client, server } from "../src/api/client";
import { MAX_ITEMS_PER_ACT } from "../src/workspace/use-acts";

afterEach(() => {
  vi.unstubAllGlobals();
  history.replaceState(null, "", "/");
});

function answering(status: number, body: unknown) {
  const fetched = vi.fn(async (_url: string, _init: RequestInit) => new Response(JSON.stringify(body), { status }));
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

test("path parameters, query and orientation are part of the address", () => {
  const client = new Client("by shape");
  expect(client.url("/api/groups/{number}", { path: { number: 1 }, query: { offset: 5 } })).toBe(
    "/api/groups/1?session=by+shape&offset=5",
  );
  expect(client.url("/api/items/{id}/preview", { path: { id: "a/b c.png" } })).toContain("/api/items/a%2Fb%20c.png/");
  expect(new Client().url("/api/session")).toBe("/api/session");
  expect(new Client("a&b").url("/api/export", { query: { format: "csv" } })).toBe(
    "/api/export?session=a%26b&format=csv",
  );
});

test("the collection in the page's address is part of every request", async () => {
  history.replaceState(null, "", "/groups?pile=photos-1");
  const fetched = answering(200, {});
  const client = new Client("a");
  expect(client.url("/api/groups")).toBe("/api/groups?session=a&pile=photos-1");
  expect(client.eventsUrl).toBe("/api/events?session=a&pile=photos-1");
  await new Client().post("/api/start/look", { body: { path: "x" } });
  expect(fetched.mock.calls[0]?.[0]).toBe("/api/start/look?pile=photos-1");
});

test("a client of a workspace keeps to the ledger of its first reply", async () => {
  const headers = (call: unknown[] | undefined) => (call?.[1] as RequestInit).headers;
  let ledger = "apples";
  const fetched = vi.fn(
    async (_url: string, _init: RequestInit) => new Response("{}", { headers: { "X-Samekind-Ledger": ledger } }),
  );
  vi.stubGlobal("fetch", fetched);
  const client = new Client();
  await client.get("/api/session");
  ledger = "pears";
  await client.post("/api/refit");
  await server.get("/api/jobs");
  await server.get("/api/jobs");
  expect(fetched.mock.calls.map(headers)).toEqual([
    {},
    { "X-Samekind-Ledger": "apples", "Content-Type": "application/json" },
    {},
    {},
  ]);
});

test("a change is sent as JSON, with an empty object where no details are needed", async () => {
  const fetched = answering(200, {});
  const client = new Client();
  await client.post("/api/answers", { body: { number: 1, choice: "same", seconds: null } });
  await client.post("/api/refit");
  expect(fetched.mock.calls).toEqual([
    [
      "/api/answers",
      {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: '{"number":1,"choice":"same","seconds":null}',
      },
    ],
    ["/api/refit", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }],
  ]);
});

test("an error reply is thrown with the server's words and type", async () => {
  answering(409, { error: { type: "answered-already", message: "Already answered.", what_to_do: "Change it." } });
  const error = await new Client().post("/api/skip", { body: { number: 1 } }).catch((problem: unknown) => problem);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    status: 409,
    type: "answered-already",
    message: "Already answered.",
    whatToDo: "Change it.",
    retryable: false,
  });
});

test("a server that cannot be reached differs from one that rejects the request", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("failed")));
  const error = await new Client().get("/api/question").catch((problem: ApiError) => problem);
  expect(error).toMatchObject({ status: 0, retryable: true, message: "Cannot reach samekind." });
});

test("an error reply without JSON still has a message", async () => {
  vi.stubGlobal("fetch", async () => new Response("<html>", { status: 502 }));
  await expect(new Client().get("/api/question")).rejects.toThrow("The server answered with status 502.");
});

test("bytes are returned as they are, and their errors in words", async () => {
  vi.stubGlobal("fetch", async () => new Response(new Uint8Array([1, 2, 3])));
  const bytes = await new Client().bytes("/api/map/points", { query: { version: 1 } });
  expect([...new Uint8Array(bytes)]).toEqual([1, 2, 3]);
  answering(404, { error: { type: "unknown-map", message: "Replaced." } });
  await expect(new Client().bytes("/api/map/points", { query: { version: 1 } })).rejects.toMatchObject({
    type: "unknown-map",
  });
});

test("requests that do not fit the API do not compile", () => {
  answering(200, {});
  const client = new Client();
  const wrong = () => {
    // @ts-expect-error there is no such path
    void client.get("/api/nothing");
    // @ts-expect-error this path has no PUT
    void client.put("/api/session");
    // @ts-expect-error the path parameter is missing
    void client.get("/api/groups/{number}");
    // @ts-expect-error the format is missing
    void client.url("/api/export");
    // @ts-expect-error there is no such format
    void client.url("/api/export", { query: { format: "doc" } });
    // @ts-expect-error the choice is missing
    void client.post("/api/answers", { body: { number: 1 } });
    // @ts-expect-error a progress has no such field
    void client.get("/api/progress").then((progress) => progress.answer);
  };
  expect(wrong).toBeTypeOf("function");
});

test("limits in the page are those of the API", () => {
  expect(MAX_ITEMS_PER_ACT).toBe(openapi.components.schemas.Out.properties.items.maxItems);
});
