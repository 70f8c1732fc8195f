import { beforeEach, expect, test } from "vitest";
import type { ChoiceView, QuestionView } from "../src/api/schema";
import { bindQuestion, keyConflict, readBindings, slotLabel, slotOf, slots } from "../src/keyboard/bindings";

const choice = (value: string, keys: string[]): ChoiceView => ({ value, label: value, keys, exemplars: [], name: "", place: null });
const asking = (many: boolean, ...choices: ChoiceView[]): QuestionView => ({
  number: 1,
  kind: "?",
  prompt: "?",
  why: "",
  many,
  marking: null,
  items: [],
  parts: [],
  new_group: false,
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

test("custom keys replace the defaults, all others stay", () => {
  const keys = (question: QuestionView) =>
    bindQuestion({ "pair:same": ["j"], "marks:1": ["a"] }, question).choices.map((one) => one.keys);
  expect(keys(pair)).toEqual([["j"], ["n"], ["u"]]);
  expect(keys(groups)).toEqual([["1"], ["0"], ["u"]]);
  expect(keys(marks)).toEqual([["Enter"], ["a"], ["u"]]);
});

test("a key that is in use on the same screen is rejected, with its use", () => {
  expect(keyConflict({}, "pair:same", "n")).toContain("“Different”");
  expect(keyConflict({}, "pair:same", "u")).toContain("“Not sure”");
  expect(keyConflict({}, "acts:skip", "1")).toContain("“Group 1”");
  expect(keyConflict({}, "always:unsure", "-")).toContain("“Mark item 11”");
  expect(keyConflict({ "pair:different": ["x"] }, "pair:same", "n")).toBe("");
  expect(keyConflict({ "pair:different": ["x"] }, "pair:same", "x")).toContain("“Different”");
});

test("a key may mean two things that are never asked at the same time", () => {
  expect(keyConflict({}, "pair:same", "1")).toBe("");
  expect(keyConflict({}, "pair:different", "ArrowLeft")).toBe("");
});

test("keys that lead out of the page are reserved", () => {
  for (const key of ["Tab", "Escape", "F5", "Shift"]) expect(keyConflict({}, "pair:same", key)).not.toBe("");
});

test("no two defaults conflict, and everything has a label", () => {
  for (const [slot, keys] of slots()) {
    for (const key of keys) expect(keyConflict({}, slot, key)).toBe("");
    expect(slotLabel(slot)).not.toContain("undefined");
  }
});

test("damaged or unknown settings are ignored", () => {
  localStorage.setItem("samekind:keys", "{");
  expect(readBindings()).toEqual({});
  localStorage.setItem("samekind:keys", '{"pair:same": ["j"], "else": ["x"], "pair:different": "n"}');
  expect(readBindings()).toEqual({ "pair:same": ["j"] });
});
