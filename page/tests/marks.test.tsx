import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, expect, test, vi } from "vitest";
import type { AnswerView, ItemView, QuestionView } from "../src/api/schema";
import { chosenItems, combine, type Marks, numbersIn, useMarks } from "../src/components/question/use-marks";

const item = (id: string): ItemView => ({ id, kind: "image", preview: null });
const question = (number: number, many = true): QuestionView => ({
  number,
  kind: "odd-ones",
  prompt: "?",
  why: "",
  many,
  marking: null,
  items: [item("g")],
  parts: [[item("g")]],
  new_group: false,
  choices: ["none", "1", "2", "11", "unsure"].map((value) => ({
    value,
    label: value,
    keys: [],
    exemplars: /\d/.test(value) ? [item(`item ${value}`)] : [],
    name: "",
    place: null,
  })),
});

let marks: Marks;
function Probe(props: {
  question: QuestionView;
  answer: (choice: string) => void;
  initial?: string | null;
  sent?: string | null;
}) {
  marks = useMarks(props.question, props.answer, {
    initial: props.initial ?? null,
    sent: props.sent ?? null,
  });
  return null;
}

function show(props: Parameters<typeof Probe>[0]) {
  void act(() => render(<Probe {...props} />, document.body));
}

beforeEach(() => render(null, document.body));

test("numbers are combined in ascending order, and none of them is “none”", () => {
  expect(combine(["11", "2", "2"])).toBe("2,11");
  expect(combine([])).toBe("none");
  expect(numbersIn("2,11")).toEqual(["2", "11"]);
  expect([numbersIn("unsure"), numbersIn(null)]).toEqual([[], []]);
});

test("numbers are marked and unmarked, and submitted together, even before the next render", () => {
  const answer = vi.fn();
  show({ question: question(1), answer });
  void act(() => {
    for (const choice of ["11", "1", "2", "1"]) marks.press(choice);
    marks.press("none");
  });
  expect(answer.mock.calls).toEqual([["2,11"]]);
  expect([...marks.marked].sort()).toEqual(["11", "2"]);
});

test("without a mark “none” is submitted, and “not sure” whatever is marked", () => {
  const answer = vi.fn();
  show({ question: question(1), answer });
  void act(() => marks.press("none"));
  void act(() => marks.press("2"));
  void act(() => marks.press("unsure"));
  expect(answer.mock.calls).toEqual([["none"], ["unsure"]]);
});

test("the next question begins without marks, an earlier answer with its own", () => {
  const answer = vi.fn();
  show({ question: question(1), answer });
  void act(() => marks.press("2"));
  show({ question: question(2), answer });
  expect(marks.marked.size).toBe(0);
  render(null, document.body);
  show({ question: question(1), answer, initial: "1,11" });
  expect([...marks.marked]).toEqual(["1", "11"]);
});

test("an answer that is being sent cannot be changed", () => {
  show({ question: question(1), answer: vi.fn(), sent: "2" });
  void act(() => marks.press("1"));
  expect([...marks.marked]).toEqual(["2"]);
});

test("where only one may be chosen, a number is an answer", () => {
  const answer = vi.fn();
  show({ question: question(1, false), answer });
  void act(() => marks.press("2"));
  expect(answer).toHaveBeenCalledWith("2");
  expect(marks.marked.size).toBe(0);
});

test("the chosen items are those that the answer names", () => {
  const told = { choice: "2,11", question: question(1) } as AnswerView;
  expect(chosenItems(told).map((one) => one.id)).toEqual(["item 2", "item 11"]);
  expect(chosenItems({ ...told, choice: "none" })).toEqual([]);
});
