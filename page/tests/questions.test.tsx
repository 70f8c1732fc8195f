import { render } from "preact";
import { beforeEach, expect, test, vi } from "vitest";
import type { ItemView, QuestionView } from "../src/api/schema";
import { Question } from "../src/components/question/question";

const item = (id: string): ItemView => ({ id, kind: "image", preview: `/api/items/${id}/preview` });
const choice = (value: string, keys: string[], exemplars: ItemView[] = []) => ({
  value,
  label: value,
  keys,
  exemplars,
  name: "",
  place: null,
});

function show(
  question: Partial<QuestionView>,
  chosen: string | null = null,
  marked: ReadonlySet<string> = new Set(),
) {
  const choose = vi.fn();
  const items = question.items ?? [item("a"), item("b")];
  const whole: QuestionView = {
    number: 1,
    kind: "same-pair",
    prompt: "?",
    why: "",
    many: false,
    marking: null,
    items,
    parts: items.map((one) => [one]),
    new_group: false,
    choices: [choice("same", ["y"]), choice("unsure", ["u", " "])],
    ...question,
  };
  render(
    <Question question={whole} chosen={chosen} marked={marked} choose={choose} />,
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

test("the choice that is being sent is pressed", () => {
  show({}, "unsure");
  const pressed = document.querySelector('[aria-pressed="true"]');
  expect(pressed?.getAttribute("data-choice")).toBe("unsure");
});

test("an item that is gone is named, not fetched", () => {
  show({ items: [{ id: "old.png", kind: "gone", preview: null }] });
  expect(document.querySelector("img")).toBeNull();
  expect(document.body.textContent).toContain("old.png");
});

test("a text is shown as text, never as markup", async () => {
  vi.stubGlobal("fetch", async () => new Response("<b>bold</b>"));
  show({ items: [{ id: "t", kind: "text", preview: "/t" }] });
  await vi.waitFor(() => expect(document.querySelector(".text-preview")?.textContent).toBe("<b>bold</b>"));
  expect(document.querySelector(".text-preview b")).toBeNull();
  vi.unstubAllGlobals();
});

const twelve = Array.from({ length: 12 }, (_, k) =>
  choice(`${k + 1}`, ["1234567890-=".charAt(k)], [item(`s${k + 1}`)]),
);
const odd: Partial<QuestionView> = {
  kind: "odd-ones",
  many: true,
  marking: { belong: false, word: "is not", one: "1 is not", several: "{} are not" },
  items: [item("g"), item("h")],
  parts: [[item("g"), item("h")]],
  choices: [
    { ...choice("none", ["Enter"]), label: "All belong" },
    ...twelve,
    { ...choice("unsure", ["u", " "]), label: "Not sure" },
  ],
};

test("two groups are shown apart, each by its exemplars", () => {
  const choose = show({
    kind: "same-groups",
    parts: [
      [item("a"), item("b"), item("c")],
      [item("d"), item("e")],
    ],
    choices: [choice("same", ["y"]), choice("different", ["n"]), choice("unsure", ["u"])],
  });
  const groups = [...document.querySelectorAll(".one-group")];
  expect(groups.map((group) => group.querySelectorAll("img").length)).toEqual([3, 2]);
  expect(groups.map((group) => group.getAttribute("aria-label"))).toEqual([
    "First group",
    "Second group",
  ]);
  document.querySelector<HTMLButtonElement>("[data-choice=different]")?.click();
  expect(choose).toHaveBeenCalledWith("different");
});

test("each item of a grid is a box to tick, with its key and a name that is read aloud", () => {
  const choose = show(odd);
  const boxes = [...document.querySelectorAll<HTMLButtonElement>("[role=checkbox]")];
  expect(boxes).toHaveLength(12);
  expect(boxes.map((box) => box.textContent).join("")).toBe("1234567890-=");
  expect(boxes[1]?.getAttribute("aria-label")).toBe("2: s2");
  expect(boxes.every((box) => box.getAttribute("aria-checked") === "false")).toBe(true);
  boxes[1]?.click();
  expect(choose).toHaveBeenCalledWith("2");
  expect(document.querySelectorAll(".belonging img")).toHaveLength(2);
  expect(document.querySelector("[data-choice=none]")?.textContent).toBe("EnterAll belong");
});

test("what is marked is seen without colours, and the button says how many", () => {
  show(odd, null, new Set(["2", "5"]));
  const marked = [...document.querySelectorAll('[aria-checked="true"]')];
  expect(marked.map((box) => box.getAttribute("data-choice"))).toEqual(["2", "5"]);
  expect(marked.every((box) => box.textContent?.includes("✕is not"))).toBe(true);
  expect(document.querySelector("[data-choice=none]")?.textContent).toBe("Enter2 are not");
  expect(document.querySelector("[data-choice=unsure]")?.textContent).toContain("Not sure");
  const marking = { belong: true, word: "same kind", one: "1 is the same kind", several: "{} are" };
  show({ ...odd, kind: "all-like", marking }, null, new Set(["3"]));
  expect(document.querySelector('[aria-checked="true"]')?.textContent).toContain("✓same kind");
  expect(document.querySelector("[data-choice=none]")?.textContent).toBe("Enter1 is the same kind");
});

test("a kind of tomorrow in which several may be chosen is a grid too", () => {
  show({ ...odd, kind: "a-kind-of-tomorrow", marking: null }, null, new Set(["3"]));
  const marked = [...document.querySelectorAll('[aria-checked="true"]')];
  expect(marked.map((button) => button.getAttribute("data-choice"))).toEqual(["3"]);
  expect(document.querySelector("[data-choice=none]")?.textContent).toContain("Only the marked one");
});

test("only one tile is reached with Tab, and the arrow keys move on from it", async () => {
  show(odd);
  const tiles = () => [...document.querySelectorAll<HTMLElement>(".mark")];
  const reached = () => tiles().flatMap((tile, k) => (tile.tabIndex === 0 ? [k] : []));
  expect(reached()).toEqual([0]);
  dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  await vi.waitFor(() => expect(reached()).toEqual([1]));
  expect(document.activeElement).toBe(tiles()[1]);
  document.body.insertAdjacentHTML("beforeend", "<dialog open></dialog>"); // over the grid
  dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  expect(document.activeElement).toBe(tiles()[1]);
  document.querySelector("dialog")?.remove();
});

test("previews off the screen are not loaded before they come near it", async () => {
  const seen: Element[] = [];
  let appear = (_: Element) => {};
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(notify: (entries: { isIntersecting: boolean; target: Element }[]) => void) {
        appear = (target) => notify([{ isIntersecting: true, target }]);
      }
      observe = (target: Element) => seen.push(target);
      disconnect = () => {};
    },
  );
  const more = Array.from({ length: 24 }, (_, k) => choice(`${k + 1}`, [], [item(`s${k + 1}`)]));
  show({ ...odd, choices: [...more, choice("none", ["Enter"])] });
  expect(document.querySelectorAll(".mark img")).toHaveLength(12);
  await vi.waitFor(() => expect(seen).toHaveLength(12));
  const last = seen[11];
  if (last) appear(last);
  await vi.waitFor(() => expect(document.querySelectorAll(".mark img")).toHaveLength(13));
  expect(last?.querySelector("img")).not.toBeNull();
  vi.unstubAllGlobals();
});

test("dragging over tiles marks those on the way, each once", async () => {
  const choose = show(odd, null, new Set(["3"]));
  await Promise.resolve();
  const at = (x: number) => document.querySelector(`[data-tile="${Math.floor(x / 50) + 1}"]`); // in a row
  vi.spyOn(document, "elementFromPoint").mockImplementation((x) => at(x));
  const pointer = (kind: string, x: number, type = "mouse") => {
    const event = new PointerEvent(kind, { clientX: x, clientY: 10, button: 0, pointerType: type, bubbles: true });
    (at(x) ?? document.body).dispatchEvent(event);
  };
  pointer("pointerdown", 10);
  pointer("pointermove", 30); // still the first one
  expect(choose).not.toHaveBeenCalled();
  pointer("pointermove", 220); // in one jump, and back
  pointer("pointermove", 160);
  pointer("pointerup", 160);
  pointer("pointermove", 500);
  expect(choose.mock.calls.flat()).toEqual(["1", "2", "4", "5"]); // 3 was marked already
  choose.mockClear();
  pointer("pointerdown", 120); // begins with the marked one: unmarks
  pointer("pointermove", 170);
  pointer("pointerup", 170);
  expect(choose.mock.calls.flat()).toEqual(["3"]);
  choose.mockClear();
  pointer("pointerdown", 10, "touch"); // a finger swipes
  pointer("pointermove", 220, "touch");
  expect(choose).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});
