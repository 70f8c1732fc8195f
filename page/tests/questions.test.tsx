import { render } from "preact";
import { beforeEach, expect, test, vi } from "vitest";
import type { Item, Question } from "../src/api";
import { QuestionView } from "../src/questions/registry";

const item = (id: string): Item => ({ id, kind: "image", preview: `/api/items/${id}/preview` });
const choice = (value: string, keys: string[], exemplars: Item[] = []) => ({
  value,
  label: value,
  keys,
  exemplars,
});

function show(
  question: Partial<Question>,
  chosen: string | null = null,
  picked: ReadonlySet<string> = new Set(),
) {
  const choose = vi.fn();
  const items = question.items ?? [item("a"), item("b")];
  const whole: Question = {
    number: 1,
    kind: "same-pair",
    prompt: "?",
    why: "",
    many: false,
    items,
    parts: items.map((one) => [one]),
    choices: [choice("same", ["y"]), choice("unsure", ["u", " "])],
    ...question,
  };
  render(
    <QuestionView question={whole} chosen={chosen} picked={picked} choose={choose} />,
    document.body,
  );
  return choose;
}

beforeEach(() => render(null, document.body));

test("any question has its items and one button per choice with its keys", () => {
  const choose = show({ kind: "a-kind-of-tomorrow" });
  expect(document.querySelectorAll(".items img")).toHaveLength(2);
  const buttons = [...document.querySelectorAll<HTMLButtonElement>("button")];
  expect(buttons.map((button) => button.textContent)).toEqual(["Ysame", "Uspaceunsure"]);
  buttons[0]?.click();
  expect(choose).toHaveBeenCalledWith("same");
});

test("a kind of tomorrow with exemplars shows them at their button", () => {
  show({ kind: "a-kind-of-tomorrow", choices: [choice("1", ["1"], [item("x"), item("y")])] });
  expect(document.querySelectorAll("button img")).toHaveLength(2);
});

test("a group question has each group as one button and the rest below", () => {
  const choose = show({
    kind: "which-group",
    items: [item("a")],
    choices: [
      choice("1", ["1"], [item("x"), item("y")]),
      choice("2", ["2"], [item("z")]),
      choice("none", ["0"]),
    ],
  });
  expect(document.querySelectorAll(".group-choice")).toHaveLength(2);
  expect(document.querySelectorAll(".choices button")).toHaveLength(1);
  document.querySelectorAll<HTMLButtonElement>(".group-choice")[1]?.click();
  expect(choose).toHaveBeenCalledWith("2");
});

test("the choice on its way is marked", () => {
  show({}, "unsure");
  const pressed = document.querySelector('[aria-pressed="true"]');
  expect(pressed?.getAttribute("data-choice")).toBe("unsure");
});

test("an item that has gone is named, not fetched", () => {
  show({ items: [{ id: "old.png", kind: "gone", preview: null }] });
  expect(document.querySelector("img")).toBeNull();
  expect(document.body.textContent).toContain("old.png");
});

test("a text is shown as text, never as markup", async () => {
  vi.stubGlobal("fetch", async () => new Response("<b>bold</b>"));
  show({ items: [{ id: "t", kind: "text", preview: "/t" }] });
  await vi.waitFor(() => expect(document.querySelector(".words")?.textContent).toBe("<b>bold</b>"));
  expect(document.querySelector(".words b")).toBeNull();
  vi.unstubAllGlobals();
});
