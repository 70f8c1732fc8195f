import { afterEach, expect, test, vi } from "vitest";
import { Api, Fault } from "../src/api";

afterEach(() => vi.unstubAllGlobals());

function answering(status: number, body: unknown) {
  const fetched = vi.fn(async () => new Response(JSON.stringify(body), { status }));
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

test("the orientation is part of every address", () => {
  expect(new Api("by shape").path("groups/1", { offset: 5 })).toBe(
    "/api/groups/1?session=by+shape&offset=5",
  );
  expect(new Api(null).path("session")).toBe("/api/session");
  expect(new Api("a&b").download("csv")).toBe("/api/export?session=a%26b&format=csv");
});

test("what changes something is sent as JSON", async () => {
  const fetched = answering(200, { number: 1, now: null });
  await new Api(null).tell({ number: 1, choice: "same", seconds: null });
  expect(fetched).toHaveBeenCalledWith("/api/answers", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: '{"number":1,"choice":"same","seconds":null}',
  });
});

test("a refusal comes in the words of the server", async () => {
  answering(409, { error: { type: "x", message: "Answered already.", what_to_do: "Change it." } });
  const fault = await new Api(null).skip(1).catch((problem: unknown) => problem);
  expect(fault).toBeInstanceOf(Fault);
  expect(fault).toMatchObject({ status: 409, message: "Answered already.", whatToDo: "Change it." });
  expect((fault as Fault).passing).toBe(false);
});

test("a server that does not answer is told apart from one that refuses", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("failed")));
  const fault = (await new Api(null).question().catch((problem: unknown) => problem)) as Fault;
  expect(fault.status).toBe(0);
  expect(fault.passing).toBe(true);
});

test("an answer that is not JSON is still told in words", async () => {
  vi.stubGlobal("fetch", async () => new Response("<html>", { status: 502 }));
  await expect(new Api(null).question()).rejects.toThrow("The server answered 502.");
});
