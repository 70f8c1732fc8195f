import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, expect, test, vi } from "vitest";
import type { ChoiceView } from "../src/api/schema";
import { GroupList } from "../src/components/question/group-list";
import { matchingGroups, newName } from "../src/components/question/group-search";

const group = (value: string, name: string): ChoiceView => ({
  value,
  label: "This one",
  keys: [],
  exemplars: [{ id: `item ${value}`, kind: "image", preview: null }],
  place: Number(value) - 1,
  name,
});
const GROUPS = [
  group("1", "Yorkshire Terrier"),
  group("2", ""),
  group("3", "Boxer"),
  group("4", "Scottish Terrier"),
  group("5", "Käfer"),
];
const found = (text: string) => matchingGroups(GROUPS, text).map(({ value }) => value);

test("a group is found by any part of its name or by its number, the best match first", () => {
  expect(found("")).toEqual(["1", "2", "3", "4", "5"]);
  expect(found(" TERR ")).toEqual(["1", "4"]);
  expect(found("s")).toEqual(["4", "1"]);
  expect(found("kafer")).toEqual(["5"]);
  expect(found("2")).toEqual(["2"]);
  expect(found("x")).toEqual(["3"]);
  expect(found("beagle")).toEqual([]);
});

test("only a name that no group has starts a new one", () => {
  expect(newName(GROUPS, "  Shiba   Inu ")).toBe("Shiba Inu");
  expect(newName(GROUPS, "boxer")).toBeNull();
  expect(newName(GROUPS, "Box")).toBe("Box");
  expect(newName(GROUPS, "5")).toBeNull();
  expect(newName(GROUPS, " ")).toBeNull();
});

const choose = vi.fn();
const rename = vi.fn();
const undo = vi.fn();
const field = () => document.querySelector<HTMLInputElement>("input[type=search]");

function type(text: string): void {
  const input = field();
  if (!input) throw new Error("There is no field.");
  input.value = text;
  void act(() => {
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

function press(key: string, more: KeyboardEventInit = {}): void {
  void act(() => {
    field()?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
  });
}

function show(canCreate = true): void {
  void act(() =>
    render(
      <GroupList groups={GROUPS} canCreate={canCreate} chosen={null} choose={choose} rename={rename} undo={undo} />,
      document.body,
    ),
  );
}

beforeEach(() => {
  render(null, document.body);
  vi.clearAllMocks();
});

test("Return takes the first match, and the arrows go on to the others", () => {
  show();
  press("Enter"); // nothing typed: nothing chosen by accident
  type("terrier");
  press("Enter");
  press("ArrowDown");
  press("Enter");
  press("ArrowUp");
  press("ArrowUp");
  press("Enter");
  expect(choose.mock.calls).toEqual([["1"], ["4"], ["none", "terrier"]]);
});

test("an unknown name is offered as a new group, unless groups may be missing", () => {
  show();
  type("Beagle");
  expect(document.querySelector(".create")?.textContent).toContain("Create group “Beagle”");
  press("Enter");
  expect(choose).toHaveBeenCalledWith("none", "Beagle");
  show(false);
  expect(document.querySelector(".create")).toBeNull();
  expect(document.body.textContent).toContain("No group matches");
});

test("with an empty field the last answer is undone as in any field", () => {
  show();
  type("a");
  press("z", { ctrlKey: true });
  expect(undo).not.toHaveBeenCalled();
  press("Escape");
  expect(field()?.value).toBe("");
  press("z", { ctrlKey: true });
  expect(undo).toHaveBeenCalledOnce();
});

test("a group is named in its row, and Escape leaves it as it is", () => {
  show();
  const pencil = () => document.querySelectorAll<HTMLButtonElement>(".row-rename")[1];
  const edit = (key: string, value: string) => {
    void act(() => pencil()?.click());
    const input = document.querySelector<HTMLInputElement>(".row-field");
    if (input) input.value = value;
    void act(() => {
      input?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    });
  };
  edit("Escape", "Pug");
  edit("Enter", " Pug ");
  expect(rename.mock.calls).toEqual([["2", "Pug"]]);
});
