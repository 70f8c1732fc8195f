import { beforeEach, expect, test } from "vitest";
import { ApiError } from "../src/api/client";
import type { AnswerResult, NewAnswer } from "../src/api/schema";
import { createOutbox, retryDelay } from "../src/workspace/outbox";

const answer: NewAnswer = { number: 4, choice: "same", seconds: 1.5 };
const done = { number: 4 } as AnswerResult;

beforeEach(() => localStorage.clear());

test("a delivered answer is removed", async () => {
  const box = createOutbox(() => "main");
  expect(await box.send(answer, async () => done)).toBe(done);
  expect(box.pending()).toBeNull();
});

test("an answer that was not delivered is kept, even after a reload", async () => {
  for (const status of [0, 500, 507]) {
    const lost = new ApiError(status, "away");
    await expect(createOutbox(() => "main").send(answer, () => Promise.reject(lost))).rejects.toBe(lost);
    expect(createOutbox(() => "main").pending()).toEqual(answer);
  }
});

test("an answer that the server rejected is dropped", async () => {
  const refused = new ApiError(409, "answered already");
  await expect(createOutbox(() => "main").send(answer, () => Promise.reject(refused))).rejects.toBe(refused);
  expect(createOutbox(() => "main").pending()).toBeNull();
});

test("an answer of a page that was opened for another pile is kept for its own", async () => {
  let ledger = "apples";
  const box = createOutbox(() => ledger);
  const refused = new ApiError(409, "another pile", "", "other-ledger");
  await expect(box.send(answer, () => Promise.reject(refused))).rejects.toBe(refused);
  ledger = "pears";
  expect(box.pending()).toBeNull();
  ledger = "apples";
  expect(box.pending()).toEqual(answer);
});

test("an answer is kept while it is being sent", async () => {
  const box = createOutbox(() => "main");
  await box.send(answer, async () => {
    expect(box.pending()).toEqual(answer);
    return done;
  });
});

test("each ledger keeps its own", async () => {
  await createOutbox(() => "a").send(answer, () => Promise.reject(new ApiError(0, "away"))).catch(() => undefined);
  expect(createOutbox(() => "b").pending()).toBeNull();
  expect(createOutbox(() => "a").pending()).toEqual(answer);
});

test("damaged storage is ignored", () => {
  localStorage.setItem("samekind:unsent:main", "{");
  expect(createOutbox(() => "main").pending()).toBeNull();
});

test("without storage answers are still sent", async () => {
  const refusing = {
    getItem: () => {
      throw new Error("no storage");
    },
    setItem: () => {
      throw new Error("no storage");
    },
    removeItem: () => {
      throw new Error("no storage");
    },
  } as unknown as Storage;
  expect(await createOutbox(() => "main", refusing).send(answer, async () => done)).toBe(done);
});

test("retries come at growing intervals, but at least twice a minute", () => {
  expect([0, 1, 2, 3, 10].map(retryDelay)).toEqual([1, 2, 4, 8, 30]);
});
