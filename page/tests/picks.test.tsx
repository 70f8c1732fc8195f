import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, expect, test, vi } from "vitest";
import type { Answer, Item, Question } from "../src/api";
import { joined, numbers, stoodFor, usePicks, type Picks } from "../src/picks";

const item = (id: string): Item => ({ id, kind: "image", preview: null });
const question = (number: number, many = true): Question => ({
  number,
  kind: "odd-ones",
  prompt: "?",
  why: "",
  many,
  items: [item("g")],
  parts: [[item("g")]],
  choices: ["none", "1", "2", "11", "unsure"].map((value) => ({
    value,
    label: value,
    keys: [],
    exemplars: /\d/.test(value) ? [item(`item ${value}`)] : [],
  })),
});

let picks: Picks;
function Probe(props: {
  question: Question;
  answer: (choice: string) => void;
  start?: string | null;
  sent?: string | null;
}) {
  picks = usePicks(props.question, props.answer, {
    start: props.start ?? null,
    sent: props.sent ?? null,
  });
  return null;
}

function show(props: Parameters<typeof Probe>[0]) {
  void act(() => render(<Probe {...props} />, document.body));
}

beforeEach(() => render(null, document.body));

test("numbers are joined in ascending order, and none at all is none", () => {
  expect(joined(["11", "2", "2"])).toBe("2,11");
  expect(joined([])).toBe("none");
  expect(numbers("2,11")).toEqual(["2", "11"]);
  expect([numbers("unsure"), numbers(null)]).toEqual([[], []]);
});

test("numbers are marked and unmarked, and sent together, also before the page is drawn", () => {
  const answer = vi.fn();
  show({ question: question(1), answer });
  void act(() => {
    for (const choice of ["11", "1", "2", "1"]) picks.press(choice);
    picks.press("none");
  });
  expect(answer.mock.calls).toEqual([["2,11"]]);
  expect([...picks.picked].sort()).toEqual(["11", "2"]);
});

test("without a mark none is sent, and not sure is sent whatever is marked", () => {
  const answer = vi.fn();
  show({ question: question(1), answer });
  void act(() => picks.press("none"));
  void act(() => picks.press("2"));
  void act(() => picks.press("unsure"));
  expect(answer.mock.calls).toEqual([["none"], ["unsure"]]);
});

test("the next question begins without marks, an earlier answer with its own", () => {
  const answer = vi.fn();
  show({ question: question(1), answer });
  void act(() => picks.press("2"));
  show({ question: question(2), answer });
  expect(picks.picked.size).toBe(0);
  render(null, document.body);
  show({ question: question(1), answer, start: "1,11" });
  expect([...picks.picked]).toEqual(["1", "11"]);
});

test("an answer on its way cannot be marked differently", () => {
  show({ question: question(1), answer: vi.fn(), sent: "2" });
  void act(() => picks.press("1"));
  expect([...picks.picked]).toEqual(["2"]);
});

test("where only one may be chosen, a number is an answer", () => {
  const answer = vi.fn();
  show({ question: question(1, false), answer });
  void act(() => picks.press("2"));
  expect(answer).toHaveBeenCalledWith("2");
  expect(picks.picked.size).toBe(0);
});

test("an answer stands for all items that it names", () => {
  const told = { choice: "2,11", question: question(1) } as Answer;
  expect(stoodFor(told).map((one) => one.id)).toEqual(["item 2", "item 11"]);
  expect(stoodFor({ ...told, choice: "none" })).toEqual([]);
});
