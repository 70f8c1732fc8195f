import { beforeEach, expect, test } from "vitest";
import type { Choice, Question } from "../src/api";
import { boundTo, read, refusal, slotOf, slots, words } from "../src/bindings";

const choice = (value: string, keys: string[]): Choice => ({ value, label: value, keys, exemplars: [] });
const asking = (many: boolean, ...choices: Choice[]): Question => ({
  number: 1,
  kind: "?",
  prompt: "?",
  why: "",
  many,
  items: [],
  parts: [],
  choices,
});
const pair = asking(false, choice("same", ["y"]), choice("different", ["n"]), choice("unsure", ["u"]));
const groups = asking(false, choice("1", ["1"]), choice("none", ["0"]), choice("unsure", ["u"]));
const marks = asking(true, choice("none", ["Enter"]), choice("1", ["1"]), choice("unsure", ["u"]));

beforeEach(() => localStorage.clear());

test("a number means a group in one question and a mark in another", () => {
  expect(pair.choices.map((one) => slotOf(pair, one))).toEqual([
    "pair:same",
    "pair:different",
    "always:unsure",
  ]);
  expect(groups.choices.map((one) => slotOf(groups, one)).slice(0, 2)).toEqual(["groups:1", "groups:none"]);
  expect(marks.choices.map((one) => slotOf(marks, one)).slice(0, 2)).toEqual(["marks:none", "marks:1"]);
});

test("own keys are put on the buttons, all others stay", () => {
  const keys = (question: Question) =>
    boundTo({ "pair:same": ["j"], "marks:1": ["a"] }, question).choices.map((one) => one.keys);
  expect(keys(pair)).toEqual([["j"], ["n"], ["u"]]);
  expect(keys(groups)).toEqual([["1"], ["0"], ["u"]]);
  expect(keys(marks)).toEqual([["Enter"], ["a"], ["u"]]);
});

test("a key that means something else on the same screen is refused, with its meaning", () => {
  expect(refusal({}, "pair:same", "n")).toContain("“Different”");
  expect(refusal({}, "pair:same", "u")).toContain("“Not sure”");
  expect(refusal({}, "acts:skip", "1")).toContain("“Group 1”");
  expect(refusal({}, "always:unsure", "-")).toContain("“Mark item 11”");
  expect(refusal({ "pair:different": ["x"] }, "pair:same", "n")).toBe("");
  expect(refusal({ "pair:different": ["x"] }, "pair:same", "x")).toContain("“Different”");
});

test("a key may mean two things that are never asked at the same time", () => {
  expect(refusal({}, "pair:same", "1")).toBe("");
  expect(refusal({}, "pair:different", "ArrowLeft")).toBe("");
});

test("keys that lead out of the page keep their meaning", () => {
  for (const key of ["Tab", "Escape", "F5", "Shift"]) expect(refusal({}, "pair:same", key)).not.toBe("");
});

test("no two defaults are in each other's way, and everything has a name", () => {
  for (const [slot, keys] of slots()) {
    for (const key of keys) expect(refusal({}, slot, key)).toBe("");
    expect(words(slot)).not.toContain("undefined");
  }
});

test("what was kept damaged or is not known counts as nothing", () => {
  localStorage.setItem("samekind:keys", "{");
  expect(read()).toEqual({});
  localStorage.setItem("samekind:keys", '{"pair:same": ["j"], "else": ["x"], "pair:different": "n"}');
  expect(read()).toEqual({ "pair:same": ["j"] });
});
