import { expect, test } from "vitest";
import type { Act, QuestionView } from "../src/api/schema";
import { caption, commandFor, isHandledByFocus, type KeyPress } from "../src/keyboard/keys";

const question: QuestionView = {
  number: 3,
  kind: "same-pair",
  prompt: "Are these two the same kind?",
  why: "",
  many: false,
  marking: null,
  items: [],
  parts: [],
  new_group: false,
  choices: [
    { value: "same", label: "Same", keys: ["y"], exemplars: [], name: "", place: null },
    { value: "different", label: "Different", keys: ["n"], exemplars: [], name: "", place: null },
    { value: "unsure", label: "Not sure", keys: ["u", " "], exemplars: [], name: "", place: null },
  ],
};
const acts: Act[] = [
  { name: "back", label: "Back", keys: ["z", "Backspace"] },
  { name: "help", label: "Help", keys: ["?"] },
];

function press(key: string, more: Partial<KeyPress> = {}): KeyPress {
  return { key, ctrlKey: false, metaKey: false, altKey: false, repeat: false, ...more };
}

test("a key chooses what is printed on its button, in either case", () => {
  expect(commandFor(press("y"), question, acts)).toEqual({ choose: "same" });
  expect(commandFor(press("N"), question, acts)).toEqual({ choose: "different" });
  expect(commandFor(press(" "), question, acts)).toEqual({ choose: "unsure" });
});

test("acts work with and without a question", () => {
  expect(commandFor(press("Backspace"), question, acts)).toEqual({ act: "back" });
  expect(commandFor(press("?"), null, acts)).toEqual({ act: "help" });
  expect(commandFor(press("y"), null, acts)).toBeNull();
});

test("shortcuts of the browser and keys held down do nothing", () => {
  expect(commandFor(press("z", { ctrlKey: true }), question, acts)).toBeNull();
  expect(commandFor(press("n", { metaKey: true }), question, acts)).toBeNull();
  expect(commandFor(press("y", { repeat: true }), question, acts)).toBeNull();
  expect(commandFor(press("x"), question, acts)).toBeNull();
});

test("keys in a field or a dialog belong to it", () => {
  document.body.innerHTML = "<input><dialog><button>x</button></dialog><button id=b>y</button>";
  expect(isHandledByFocus(document.querySelector("input"), "y")).toBe(true);
  expect(isHandledByFocus(document.querySelector("dialog button"), "y")).toBe(true);
});

test("space presses the focused button, but letters still answer", () => {
  document.body.innerHTML = "<button id=b>y</button>";
  const button = document.querySelector("#b");
  expect(isHandledByFocus(button, " ")).toBe(true);
  expect(isHandledByFocus(button, "Enter")).toBe(true);
  expect(isHandledByFocus(button, "y")).toBe(false);
  expect(isHandledByFocus(document.body, " ")).toBe(false);
});

test("Return on a checkbox submits the question", () => {
  document.body.innerHTML = "<button role=checkbox id=b>y</button>";
  const box = document.querySelector("#b");
  expect(isHandledByFocus(box, "Enter")).toBe(false);
  expect(isHandledByFocus(box, " ")).toBe(true);
});

test("keys are printed as people know them", () => {
  expect([" ", "Backspace", "y", "?"].map(caption)).toEqual(["space", "⌫", "Y", "?"]);
});
