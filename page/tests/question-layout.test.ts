import { expect, test } from "vitest";
import type { OpenQuestion, QuestionView } from "../src/api/schema";
import { type Area, arrange } from "../src/components/question/layout";
import { columnsFor } from "../src/components/question/odd-ones";
import { directions, swipeDistance } from "../src/views/questions/swipe";
import { itemsOf } from "../src/workspace/preload";
import { mergeNow } from "../src/workspace/use-workspace";

const area = (width: number, height: number): Area => ({
  width,
  height,
  around: { width: 22, height: 60 },
  groupGap: 12,
  itemGap: 6,
});

/** The width and height that a layout takes. */
function sizeOf(groups: number, exemplars: number, room: Area): [number, number] {
  const { columns, across, cell, central } = arrange(groups, exemplars, room);
  const rows = Math.ceil(groups / columns);
  const down = Math.ceil((exemplars + (central ? 3 : 0)) / across);
  const wide = across * cell + (across - 1) * 6 + 22;
  const high = down * cell + (down - 1) * 6 + 60;
  return [columns * wide + (columns - 1) * 12, rows * high + (rows - 1) * 12];
}

test("all groups fit the screen, whatever their number", () => {
  for (const room of [area(880, 400), area(366, 320), area(1500, 240), area(360, 900)]) {
    for (let groups = 1; groups <= 5; groups += 1) {
      for (let exemplars = 1; exemplars <= 5; exemplars += 1) {
        const [width, height] = sizeOf(groups, exemplars, room);
        expect(width).toBeLessThanOrEqual(room.width);
        expect(height).toBeLessThanOrEqual(room.height);
        expect(arrange(groups, exemplars, room).cell).toBeGreaterThan(10);
      }
    }
  }
});

test("pictures are as large as the screen allows, and the central one is larger", () => {
  const found = arrange(4, 5, area(880, 400));
  expect(found.columns).toBe(4);
  expect(found.central).toBe(true);
  expect(arrange(4, 5, area(880, 600)).cell).toBeGreaterThanOrEqual(found.cell);
  expect(arrange(2, 1, area(880, 400)).cell).toBe(230);
});

test("small pictures are not made smaller to enlarge one", () => {
  const tight = arrange(5, 5, { ...area(360, 260), around: { width: 52, height: 14 }, groupGap: 6, itemGap: 4 });
  expect(tight.central).toBe(false);
});

test("items to mark are in as many columns as make them largest", () => {
  expect(columnsFor(12, { width: 880, height: 400 })).toBe(6);
  expect(columnsFor(12, { width: 366, height: 300 })).toBe(4);
  expect(columnsFor(12, { width: 366, height: 460 })).toBe(3);
  expect(columnsFor(4, null)).toBe(4);
});

const question = (number: number, ...values: string[]): QuestionView => ({
  number,
  kind: "?",
  prompt: "?",
  why: "",
  many: false,
  marking: null,
  items: [{ id: "a", kind: "image", preview: null }],
  parts: [],
  new_group: false,
  choices: values.map((value) => ({
    value,
    label: value,
    keys: [],
    exemplars: /\d/.test(value) ? [{ id: `e${value}`, kind: "image", preview: null }] : [],
    name: "",
  })),
});

test("only same-or-different questions are swiped: right means same", () => {
  const found = directions(question(1, "same", "different", "unsure"));
  expect([found?.left.value, found?.right.value]).toEqual(["different", "same"]);
  expect(directions(question(1, "1", "2", "none"))).toBeNull();
  expect(directions(null)).toBeNull();
  expect(swipeDistance(390)).toBeLessThan(130);
  expect(swipeDistance(100)).toBe(70);
});

test("every item of a question comes once, the subject first", () => {
  const shown = itemsOf(question(1, "2", "1", "1", "none")).map((item) => item.id);
  expect(shown).toEqual(["a", "e2", "e1"]);
});

const now = (number: number | null, answers: number) =>
  ({ question: number === null ? null : question(number), progress: { answers } }) as unknown as OpenQuestion;

test("the counts are updated, but not a question that someone is looking at", () => {
  const kept = mergeNow(now(3, 2), now(4, 3), true);
  expect([kept.question?.number, kept.progress.answers]).toEqual([3, 3]);
  expect(mergeNow(now(3, 2), now(4, 3), false).question?.number).toBe(4);
  expect(mergeNow(now(null, 2), now(4, 3), true).question?.number).toBe(4);
});
