/** The comparison of two groupings. */

import { expect, test } from "vitest";
import type { Comparison } from "../src/api/schema";
import { isOutside } from "../src/views/compare/compare";

const nested = (inner: "a" | "b", cells: number[][]) =>
  ({ cells, nesting: { inner, outside: 1, share: 0.9 } }) as Comparison;

test("marks the cells outside the group in which most of a finer group lies", () => {
  const breeds = nested("b", [
    [9, 0, 1],
    [0, 7, 8],
  ]);
  expect([0, 1, 2].map((j) => isOutside(breeds, 0, j))).toEqual([false, false, true]);
  expect([0, 1, 2].map((j) => isOutside(breeds, 1, j))).toEqual([false, false, false]);
  const turned = nested("a", [
    [9, 0],
    [1, 8],
  ]);
  expect([isOutside(turned, 1, 0), isOutside(turned, 1, 1)]).toEqual([true, false]);
});

test("marks nothing where the two are not nested", () => {
  const comparison = { cells: [[1, 2]], nesting: null } as unknown as Comparison;
  expect(isOutside(comparison, 0, 0)).toBe(false);
});
