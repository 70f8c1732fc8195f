/** The notice about a difference that cannot be seen. */

import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, expect, test } from "vitest";
import { UnseenNotice } from "../src/components/unseen-notice";

afterEach(() => render(null, document.body));

test("says it with three ways out, until it is hidden", async () => {
  await act(() => render(<UnseenNotice sentence="I cannot see this difference yet." />, document.body));
  expect(document.body.textContent).toContain("I cannot see this difference yet.");
  const links = [...document.querySelectorAll("a")].map((link) => link.getAttribute("href"));
  expect(links).toEqual(["/start", "/finish", "/groups"]);
  await act(() => document.querySelector("button")?.click());
  expect(document.body.textContent).toBe("");
});

test("says nothing where nothing is to be said", () => {
  render(<UnseenNotice sentence="" />, document.body);
  expect(document.body.textContent).toBe("");
});
