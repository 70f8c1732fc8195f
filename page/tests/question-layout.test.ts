import { expect, test } from "vitest";
import type { OpenQuestion, QuestionView } from "../src/api/schema";
import { type Area, arrange } from "../src/components/question/layout";
import { layoutOf, step } from "../src/components/question/grid-layout";
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

test("tiles are as large as fits, on a desktop and on a phone", () => {
  for (const [width, height, least] of [[1240, 360, 110], [366, 470, 66], [366, 600, 80]] as const) {
    const { columns, cell } = layoutOf(24, { width, height });
    const gap = width < 500 ? 6 : 8;
    const rows = Math.ceil(24 / columns);
    expect(columns * (cell + gap) - gap).toBeLessThanOrEqual(width);
    expect(rows * (cell + gap) - gap).toBeLessThanOrEqual(height);
    expect(cell).toBeGreaterThanOrEqual(least);
  }
  expect(layoutOf(4, { width: 1240, height: 400 })).toEqual({ columns: 4, cell: 220 });
});

test("tiles never become too small to see: then they scroll", () => {
  const { columns, cell } = layoutOf(24, { width: 300, height: 120 });
  expect(columns).toBe(4);
  expect(cell).toBeGreaterThanOrEqual(62);
  expect(layoutOf(24, null).columns).toBe(8);
});

test("the cursor moves over the grid and stays in it", () => {
  const from = (at: number, key: string) => step(at, key, 5, 12); // rows of 5, 5 and 2
  expect([from(0, "ArrowRight"), from(11, "ArrowRight"), from(5, "ArrowLeft"), from(0, "ArrowLeft")]).toEqual([1, 11, 4, 0]);
  expect([from(1, "ArrowDown"), from(6, "ArrowDown"), from(8, "ArrowDown"), from(11, "ArrowDown")]).toEqual([6, 11, 11, 11]);
  expect([from(6, "ArrowUp"), from(2, "ArrowUp"), from(7, "Home"), from(7, "End")]).toEqual([1, 2, 0, 11]);
  expect(from(3, "a")).toBeNull();
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
    place: null,
  })),
});

test("pairs and grids are swiped: right means same, or sends the marked items", () => {
  const found = directions(question(1, "same", "different", "unsure"));
  expect([found?.left.value, found?.right.value]).toEqual(["different", "same"]);
  expect(directions(question(1, "1", "2", "none"))).toBeNull();
  expect(directions(null)).toBeNull();
  const many = { ...question(1, "none", "1", "2", "unsure"), many: true };
  many.marking = { belong: false, word: "is not", one: "1 is not", several: "{} are not" };
  const sent = directions(many, 2);
  expect([sent?.left.value, sent?.right.value, sent?.right.label]).toEqual(["unsure", "none", "2 are not"]);
  expect(directions(many)?.right.label).toBe("none");
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
