import { render } from "preact";
import { beforeEach, expect, test, vi } from "vitest";
import type { UncertainPairView } from "../src/api/schema";
import { compareCounts } from "../src/views/uncertainty/alternatives";
import { barsOf, CountChart } from "../src/views/uncertainty/count-chart";
import { PairList } from "../src/views/uncertainty/pair-list";

const counts = (shares: Record<number, number>) =>
  Object.entries(shares).map(([groups, share]) => ({ groups: Number(groups), share }));

const pair = (a: number, b: number): UncertainPairView => ({
  positions: [a, b],
  question: {
    number: 0, kind: "same-pair", prompt: "Are these two the same kind?", why: "", many: false, marking: null,
    items: [a, b].map((id) => ({ id: `item ${id}`, kind: "gone", preview: null })),
    parts: [],
    choices: [
      { value: "same", label: "Same", keys: ["y"], exemplars: [], name: "", place: null },
      { value: "different", label: "Different", keys: ["n"], exemplars: [], name: "", place: null },
    ],
    new_group: false,
  },
}); // prettier-ignore

beforeEach(() => render(null, document.body));

test("the chart has a bar for the present number of groups, and for every number in between", () => {
  const bars = barsOf(counts({ 3: 0.6, 5: 0.4 }), 6);
  expect(bars.map(({ groups }) => groups)).toEqual([3, 4, 5, 6]);
  expect(bars.map(({ share }) => share)).toEqual([0.6, 0, 0.4, 0]);
  expect(bars.filter(({ current }) => current).map(({ groups }) => groups)).toEqual([6]);
});

test("of very many numbers the least probable ends are left out, never the present one", () => {
  const wide = counts({ 1: 0.01, 10: 0.5, 40: 0.02 });
  const bars = barsOf(wide, 40).map(({ groups }) => groups);
  expect([bars.length, bars.at(-1)]).toEqual([18, 40]);
  expect(barsOf(wide, 9).map(({ groups }) => groups)).toContain(10);
});

test("the chart can be read as a list", () => {
  render(<CountChart counts={counts({ 3: 0.6, 4: 0.4 })} current={4} />, document.body);
  const read = [...document.querySelectorAll("li .visually-hidden")].map((one) => one.textContent);
  expect(read).toEqual(["3 groups: 60%", "4 groups: 40%, the present number"]);
});

test("a pair is answered with the keys printed on its buttons, if it has the focus", () => {
  const answer = vi.fn(async () => true);
  render(<PairList pairs={[pair(0, 1), pair(2, 3)]} busy={false} answer={answer} />, document.body);
  const cards = document.querySelectorAll<HTMLElement>(".pair-card");
  expect(cards[1]?.getAttribute("aria-label")).toBe("Are these two the same kind? item 2 and item 3");
  cards[1]?.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true }));
  expect(answer.mock.calls).toEqual([[pair(2, 3), "different"]]);
});

test("after an answer the pair that takes its place has the focus", async () => {
  const draw = (pairs: UncertainPairView[]) =>
    render(<PairList pairs={pairs} busy={false} answer={async () => true} />, document.body);
  draw([pair(0, 1), pair(2, 3), pair(4, 5)]);
  document.querySelectorAll<HTMLButtonElement>(".pair-card button")[2]?.click();
  draw([pair(0, 1), pair(4, 5)]);
  expect(document.activeElement?.getAttribute("aria-label")).toContain("item 4 and item 5");
});

test("the numbers of groups are compared in words", () => {
  expect([compareCounts(3, 4), compareCounts(1, 2), compareCounts(4, 4)]).toEqual([
    "3 groups instead of 4",
    "1 group instead of 2",
    "4 groups, as now",
  ]);
});
