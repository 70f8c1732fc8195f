import { expect, test } from "vitest";
import type { Act, Question } from "../src/api";
import { meaning, printed, taken, type Pressed } from "../src/keys";

const question: Question = {
  number: 3,
  kind: "same-pair",
  prompt: "Are these two the same kind?",
  why: "",
  many: false,
  items: [],
  parts: [],
  choices: [
    { value: "same", label: "Same", keys: ["y"], exemplars: [] },
    { value: "different", label: "Different", keys: ["n"], exemplars: [] },
    { value: "unsure", label: "Not sure", keys: ["u", " "], exemplars: [] },
  ],
};
const acts: Act[] = [
  { name: "back", label: "Back", keys: ["z", "Backspace"] },
  { name: "help", label: "Help", keys: ["?"] },
];

function press(key: string, more: Partial<Pressed> = {}): Pressed {
  return { key, ctrlKey: false, metaKey: false, altKey: false, repeat: false, ...more };
}

test("a key chooses what is printed on its button, in either case", () => {
  expect(meaning(press("y"), question, acts)).toEqual({ choose: "same" });
  expect(meaning(press("N"), question, acts)).toEqual({ choose: "different" });
  expect(meaning(press(" "), question, acts)).toEqual({ choose: "unsure" });
});

test("acts work with and without a question", () => {
  expect(meaning(press("Backspace"), question, acts)).toEqual({ act: "back" });
  expect(meaning(press("?"), null, acts)).toEqual({ act: "help" });
  expect(meaning(press("y"), null, acts)).toBeNull();
});

test("shortcuts of the browser and keys held down mean nothing", () => {
  expect(meaning(press("z", { ctrlKey: true }), question, acts)).toBeNull();
  expect(meaning(press("n", { metaKey: true }), question, acts)).toBeNull();
  expect(meaning(press("y", { repeat: true }), question, acts)).toBeNull();
  expect(meaning(press("x"), question, acts)).toBeNull();
});

test("keys typed into a field or a dialog are left to it", () => {
  document.body.innerHTML = "<input><dialog><button>x</button></dialog><button id=b>y</button>";
  expect(taken(document.querySelector("input"), "y")).toBe(true);
  expect(taken(document.querySelector("dialog button"), "y")).toBe(true);
});

test("space presses a button that has the focus, but letters still answer", () => {
  document.body.innerHTML = "<button id=b>y</button>";
  const button = document.querySelector("#b");
  expect(taken(button, " ")).toBe(true);
  expect(taken(button, "Enter")).toBe(true);
  expect(taken(button, "y")).toBe(false);
  expect(taken(document.body, " ")).toBe(false);
});

test("a ticked box leaves return to the question, which sends all that are ticked", () => {
  document.body.innerHTML = "<button role=checkbox id=b>y</button>";
  const box = document.querySelector("#b");
  expect(taken(box, "Enter")).toBe(false);
  expect(taken(box, " ")).toBe(true);
});

test("keys are printed as people know them", () => {
  expect([" ", "Backspace", "y", "?"].map(printed)).toEqual(["space", "⌫", "Y", "?"]);
});
