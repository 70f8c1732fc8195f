/** Rules for style sheets that are easy to break without noticing. */

import { expect, test } from "vitest";

const sheets = import.meta.glob("../src/**/*.css", { query: "?raw", import: "default", eager: true }) as Record<
  string,
  string
>;
const names = Object.keys(sheets);
const rules = names.filter((name) => !name.endsWith("tokens.css"));
const text = (name: string) => (sheets[name] ?? "").replaceAll(/\/\*.*?\*\//gs, "");
const declarations = (name: string) =>
  [...text(name).matchAll(/([\w-]+):\s*([^;{}]+);/g)].map(([, property = "", value = ""]) => ({ property, value }));

const MAX_LINES = 300;
/** Hairlines and borders may be written as numbers. */
const MAX_RAW_PIXELS = 3;

test("there are style sheets to check", () => {
  expect(names.length).toBeGreaterThan(20);
});

test.each(names)("%s has at most 300 lines", (name) => {
  expect((sheets[name] ?? "").trimEnd().split("\n").length).toBeLessThanOrEqual(MAX_LINES);
});

test.each(rules)("%s takes spacing, colours, corners and sizes of type from the tokens", (name) => {
  const raw = declarations(name).filter(({ property, value }) => {
    if (property.startsWith("--")) return false;
    if (/^(margin|padding|gap|row-gap|column-gap)/.test(property)) {
      return [...value.matchAll(/(\d+)px/g)].some(([, n]) => Number(n) > MAX_RAW_PIXELS && Number(n) < 50);
    }
    if (property === "border-radius") return /\d(px|rem|em)/.test(value);
    if (property === "font-size") return /^\d*\.?\d+(px|rem)/.test(value);
    if (/^(color|background|border|box-shadow|outline|fill|stroke)/.test(property)) {
      return /#[0-9a-f]{3,8}\b|rgb\(/i.test(value);
    }
    return false;
  });
  expect(raw).toEqual([]);
});

test.each(rules)("%s uses only tokens that exist", (name) => {
  const known = new Set(names.flatMap((one) => [...text(one).matchAll(/(--[\w-]+):/g)].map(([, token]) => token)));
  // Set by components in `style` attributes.
  for (const token of [
    "--dx", "--n", "--columns", "--across", "--cell", "--heat", "--desktop-columns", "--desktop-rows",
    "--phone-columns", "--share",
  ]) known.add(token); // prettier-ignore
  const used = [...text(name).matchAll(/var\((--[\w-]+)/g)].map(([, token]) => token);
  expect(used.filter((token) => !known.has(token))).toEqual([]);
});

test("every style sheet is imported by the module beside it or by main.tsx", () => {
  const modules = import.meta.glob("../src/**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true }) as Record<
    string,
    string
  >;
  const imported = new Set(
    Object.entries(modules).flatMap(([path, source]) =>
      [...source.matchAll(/import "(\.[^"]+\.css)"/g)].map(
        ([, file = ""]) => new URL(file, `file:///${path.replace("../", "")}`).pathname,
      ),
    ),
  );
  expect(names.filter((name) => !imported.has(name.replace("..", "")))).toEqual([]);
});
