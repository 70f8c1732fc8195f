import { render } from "preact";
import { beforeEach, expect, test } from "vitest";
import type { AnswerView, CurvePoint, SuspectAnswer, Report } from "../src/api/schema";
import { headline } from "../src/components/progress-line";
import { duration } from "../src/format";
import { CurveChart, CurveTable, summary } from "../src/views/progress/curve";
import { area, line, ticks } from "../src/views/progress/scale";
import { heat } from "../src/views/compare/compare";
import { confirmAnswer, readConfirmed } from "../src/views/conflicts/odd-answers";
import { Learner, verdict } from "../src/views/progress/progress";
import { outcomeOf } from "../src/views/conflicts/settle";

const quality = { checks: 5, agreed: 4, placements: 12, low: 0.208, high: 0.991, slips: 0, words: "" };
const point = (answers: number, share: number | null): CurvePoint => ({
  answers,
  settled: answers / 20,
  quality: share === null ? null : { ...quality, share },
});

beforeEach(() => {
  render(null, document.body);
  localStorage.clear();
});

test("an axis has few and round numbers", () => {
  expect(ticks(63, 6)).toEqual([0, 20, 40, 60]);
  expect(ticks(3, 6)).toEqual([0, 1, 2, 3]);
  expect(ticks(60, 3)).toEqual([0, 20, 40, 60]);
  expect(ticks(0, 3)).toEqual([0]);
});

test("lines and areas are paths, and empty without points", () => {
  expect(line([[0, 1], [2, 3]])).toBe("M0.0 1.0L2.0 3.0");
  expect(area([[0, 1]], [[0, 2]])).toBe("M0.0 1.0L0.0 2.0Z");
  expect(area([], [])).toBe("");
});

test("durations are readable", () => {
  expect([4.4, 75, 3725].map(duration)).toEqual(["4 s", "1 min 15 s", "1 h 2 min"]);
});

test("the curve can be read as a sentence and as a table", () => {
  const points = [point(0, 0.2), point(10, 0.7), point(20, 0.9)];
  render(<CurveChart points={points} />, document.body);
  const drawing = document.querySelector("svg");
  expect(drawing?.getAttribute("aria-label")).toContain("About 20% of the items were right at 0 answers, 90% at 20.");
  expect(document.querySelectorAll("circle")).toHaveLength(3);
  render(<CurveTable points={points} />, document.body);
  expect([...document.querySelectorAll("tbody tr")].at(-1)?.textContent).toBe("2090%20–100%100%");
});

test("without checks the table has no empty columns", () => {
  const points = [point(0, null), point(20, null)];
  expect(summary(points)).toBe(
    "0% of the items were already in their current group at 0 answers, 100% at 20.",
  );
  render(<CurveTable points={points} />, document.body);
  expect(document.querySelectorAll("thead th")).toHaveLength(2);
});

test("the learner, its parameters and the strategy are named", () => {
  const parameters = { profile: "repaired", epochs: "5" };
  render(<Learner learner="PCL, repaired" strategy="pcl, PCL's own" parameters={parameters} />, document.body);
  expect(document.body.textContent).toBe(
    "Groups by PCL, repaired, profile=repaired, epochs=5. Questions by the strategy pcl, PCL's own.",
  );
});

const report = (more: Partial<Report>): Report => ({ answers: 30, words: "", ...more }) as Report;

test("the same sentence says everywhere how good the groups are", () => {
  const words = "About 97 % right (91 to 99 %). 10 more questions would change about 2 items. You can stop here.";
  expect(verdict(report({ answers: 0 }))).toContain("No answers yet");
  expect(verdict(report({ words }))).toBe(words);
  expect(verdict(report({}))).toContain("still taking shape");
  expect(headline({ quality: words, enough: true })).toBe("97 % right, you can stop");
  expect(headline({ quality: words, enough: false })).toBe("About 97 % right");
  expect(headline({ quality: "Your last 14 answers were all the same choice.", enough: false })).toBe("Check quality");
});

const suspects: SuspectAnswer[] = [
  { number: 7, implied: "different" },
  { number: 3, implied: null },
  { number: 9, implied: "same" },
];

test("another choice changes the answer that was asked about", () => {
  const found = outcomeOf(suspects, [], suspects[0] as SuspectAnswer, "same", "different");
  expect(found).toEqual({ change: 7, to: "different", forced: false });
});

test("the same choice confirms an answer, and the next one is asked", () => {
  const found = outcomeOf(suspects, [], suspects[0] as SuspectAnswer, "same", "same");
  expect(found).toEqual({ ask: suspects[1], confirmed: [7] });
});

test("when all but one are confirmed, that one is what follows from the others", () => {
  const found = outcomeOf(suspects, [7], suspects[1] as SuspectAnswer, "2", "2");
  expect(found).toEqual({ change: 9, to: "same", forced: true });
});

test("an answer whose choice does not follow is asked about, and after that nothing is forced", () => {
  const open = outcomeOf(suspects, [7], suspects[2] as SuspectAnswer, "different", "different");
  expect(open).toEqual({ ask: suspects[1], confirmed: [7, 9] });
  expect(outcomeOf(suspects, [7, 9], suspects[1] as SuspectAnswer, "2", "2")).toEqual({ stuck: true });
});

test("an answer that was confirmed is not doubted again, unless it is changed", () => {
  const answer = { number: 4, choice: "1" } as AnswerView;
  confirmAnswer("main", answer);
  expect(readConfirmed("main")).toEqual(["4=1"]);
  expect(readConfirmed("other")).toEqual([]);
  localStorage.setItem("samekind:right:main", "{");
  expect(readConfirmed("main")).toEqual([]);
});

test("a cell is as dark as its share of the smaller group", () => {
  const group = (size: number) => ({ number: 1, name: "", size, shown: [] });
  expect([heat(0, group(4), group(8)), heat(4, group(4), group(8)), heat(2, group(8), group(4))]).toEqual([0, 1, 0.5]);
});
