import { expect, test } from "vitest";
import type { Now, Question } from "../src/api";
import { renewed } from "../src/desk";
import { shownItems } from "../src/parts/look";
import { arrange, type Frame } from "../src/questions/arrange";
import { columns } from "../src/questions/odd-ones";
import { reach, ways } from "../src/questions/swipe";

const frame = (width: number, height: number): Frame => ({
  width,
  height,
  besides: { width: 22, height: 60 },
  gaps: [12, 6],
});

/** The width and height that an arrangement takes. */
function taken(groups: number, exemplars: number, room: Frame): [number, number] {
  const { columns, across, cell, central } = arrange(groups, exemplars, room);
  const rows = Math.ceil(groups / columns);
  const down = Math.ceil((exemplars + (central ? 3 : 0)) / across);
  const wide = across * cell + (across - 1) * 6 + 22;
  const high = down * cell + (down - 1) * 6 + 60;
  return [columns * wide + (columns - 1) * 12, rows * high + (rows - 1) * 12];
}

test("all groups fit the room that there is, whatever their number and the screen", () => {
  for (const room of [frame(880, 400), frame(366, 320), frame(1500, 240), frame(360, 900)]) {
    for (let groups = 1; groups <= 5; groups += 1) {
      for (let exemplars = 1; exemplars <= 5; exemplars += 1) {
        const [width, height] = taken(groups, exemplars, room);
        expect(width).toBeLessThanOrEqual(room.width);
        expect(height).toBeLessThanOrEqual(room.height);
        expect(arrange(groups, exemplars, room).cell).toBeGreaterThan(10);
      }
    }
  }
});

test("pictures are as large as the room allows, with one of five in front", () => {
  const found = arrange(4, 5, frame(880, 400));
  expect(found.columns).toBe(4);
  expect(found.central).toBe(true);
  expect(arrange(4, 5, frame(880, 600)).cell).toBeGreaterThanOrEqual(found.cell);
  expect(arrange(2, 1, frame(880, 400)).cell).toBe(230);
});

test("small pictures are not made smaller for one large one", () => {
  const tight = arrange(5, 5, { ...frame(360, 260), besides: { width: 52, height: 14 }, gaps: [6, 4] });
  expect(tight.central).toBe(false);
});

test("items to be marked stand in as many columns as make them largest", () => {
  expect(columns(12, { width: 880, height: 400 })).toBe(6);
  expect(columns(12, { width: 366, height: 300 })).toBe(4);
  expect(columns(12, { width: 366, height: 460 })).toBe(3);
  expect(columns(4, null)).toBe(4);
});

const question = (number: number, ...values: string[]): Question => ({
  number,
  kind: "?",
  prompt: "?",
  why: "",
  many: false,
  items: [{ id: "a", kind: "image", preview: null }],
  parts: [],
  choices: values.map((value) => ({
    value,
    label: value,
    keys: [],
    exemplars: /\d/.test(value) ? [{ id: `e${value}`, kind: "image", preview: null }] : [],
  })),
});

test("only questions of same or different are swiped: right for the same", () => {
  const found = ways(question(1, "same", "different", "unsure"));
  expect([found?.left.value, found?.right.value]).toEqual(["different", "same"]);
  expect(ways(question(1, "1", "2", "none"))).toBeNull();
  expect(ways(null)).toBeNull();
  expect(reach(390)).toBeLessThan(130);
  expect(reach(100)).toBe(70);
});

test("looking closer goes through every item once, the subject first", () => {
  const shown = shownItems(question(1, "2", "1", "1", "none")).map((item) => item.id);
  expect(shown).toEqual(["a", "e2", "e1"]);
});

const now = (number: number | null, answers: number) =>
  ({ question: number === null ? null : question(number), progress: { answers } }) as unknown as Now;

test("a question is not replaced while someone looks at it, but the counts are", () => {
  const kept = renewed(now(3, 2), now(4, 3), true);
  expect([kept.question?.number, kept.progress.answers]).toEqual([3, 3]);
  expect(renewed(now(3, 2), now(4, 3), false).question?.number).toBe(4);
  expect(renewed(now(null, 2), now(4, 3), true).question?.number).toBe(4);
});
