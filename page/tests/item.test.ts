/** Texts in whole words, and rows with the fields in which they differ. */

import { expect, test } from "vitest";
import { differing, type Fields, parseFields } from "../src/components/item-row";
import { wholeWords } from "../src/components/item-text";

const upTo = (length: number) => (shown: string) => shown.length <= length;

test("a text that does not fit ends with a whole word", () => {
  expect(wholeWords("one two three", upTo(13))).toBe("one two three");
  expect(wholeWords("one two three", upTo(12))).toBe("one two …");
  expect(wholeWords("one  two\nthree", upTo(11))).toBe("one  two …");
  expect(wholeWords("extraordinarily", upTo(5))).toBe("…");
});

test("fields are read from the lines of a preview", () => {
  expect(parseFields("city: Berlin\nnote: a: b\nsecond line\nempty:")).toEqual([
    ["city", "Berlin"],
    ["note", "a: b second line"],
    ["empty", ""],
  ]);
});

test("rows are marked where they differ from the one that is asked about", () => {
  const rows = new Map<string, Fields>([
    ["a", [["city", "Berlin"], ["rent", "1000"], ["rooms", "2"]]],
    ["b", [["city", "Munich"], ["rent", "1010"], ["rooms", "2"]]],
    ["c", [["city", "Munich"], ["rent", "700"], ["rooms", "3"]]],
  ]);
  const marked = (id: string) => [...differing(rows.get(id) ?? [], id, rows)];
  expect(marked("a")).toEqual(["city"]); // the only one that differs from all others
  expect(marked("b")).toEqual(["city"]); // rents that are nearly equal do not count
  expect(marked("c")).toEqual(["city", "rent", "rooms"]);
  expect([...differing([["city", "Berlin"]], "a", new Map())]).toEqual([]);
});
