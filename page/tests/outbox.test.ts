import { beforeEach, expect, test } from "vitest";
import { Fault, type Done, type Told } from "../src/api";
import { outbox, patience } from "../src/outbox";

const told: Told = { number: 4, choice: "same", seconds: 1.5 };
const done = { number: 4 } as Done;

beforeEach(() => localStorage.clear());

test("an answer that got through is let go", async () => {
  const box = outbox("main");
  expect(await box.send(told, async () => done)).toBe(done);
  expect(box.held()).toBeNull();
});

test("an answer that did not get through is kept, also for the next page", async () => {
  for (const status of [0, 500, 507]) {
    const lost = new Fault(status, "away");
    await expect(outbox("main").send(told, () => Promise.reject(lost))).rejects.toBe(lost);
    expect(outbox("main").held()).toEqual(told);
  }
});

test("an answer that the server understood and refused is given up", async () => {
  const refused = new Fault(409, "answered already");
  await expect(outbox("main").send(told, () => Promise.reject(refused))).rejects.toBe(refused);
  expect(outbox("main").held()).toBeNull();
});

test("while an answer is on its way it is kept", async () => {
  const box = outbox("main");
  await box.send(told, async () => {
    expect(box.held()).toEqual(told);
    return done;
  });
});

test("each orientation keeps its own", async () => {
  await outbox("a").send(told, () => Promise.reject(new Fault(0, "away"))).catch(() => undefined);
  expect(outbox("b").held()).toBeNull();
  expect(outbox("a").held()).toEqual(told);
});

test("what was kept damaged counts as nothing", () => {
  localStorage.setItem("samekind:unsent:main", "{");
  expect(outbox("main").held()).toBeNull();
});

test("a browser that keeps nothing still sends", async () => {
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
  expect(await outbox("main", refusing).send(told, async () => done)).toBe(done);
});

test("tries come later and later, but at least twice a minute", () => {
  expect([0, 1, 2, 3, 10].map(patience)).toEqual([1, 2, 4, 8, 30]);
});
