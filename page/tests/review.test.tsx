import { render } from "preact";
import { beforeEach, expect, test } from "vitest";
import { NothingListed } from "../src/views/review/review";

beforeEach(() => render(null, document.body));

test.each([
  [true, 0, "Done", "Export your groups"],
  [false, null, null, "placed a few more items"],
  [false, 3, null, "alone in their groups"],
  [false, 0, null, "Once those answers are settled"],
])("where nothing is listed, it says why (done: %s, items: %s)", (done, items, head, words) => {
  render(<NothingListed done={done} items={items} />, document.body);
  expect(document.querySelector("h2")?.textContent ?? null).toBe(head);
  expect(document.querySelector("p")?.textContent).toContain(words);
  expect(document.querySelectorAll(".button.primary").length).toBe(done ? 1 : 0);
});
