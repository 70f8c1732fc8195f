import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { QuestionsPage } from "../src/views/questions/questions";
import type { Workspace } from "../src/workspace/use-workspace";

const now = {
  question: {
    number: 1,
    kind: "same-pair",
    prompt: "Are these two the same kind?",
    why: "",
    many: false,
    marking: null,
    items: [],
    parts: [[], []],
    new_group: false,
    choices: [{ value: "same", label: "Same", keys: ["y"], exemplars: [], name: "", place: null }],
  },
  progress: { answers: 0 },
};
const session = { acts: [{ name: "skip", label: "Skip for now", keys: ["s"] }] };

async function show(parts: object): Promise<{ skip: () => void; answer: () => void }> {
  const workspace = { sending: null, recent: [], session: null, now: null, skip: vi.fn(), answer: vi.fn(), ...parts };
  await act(async () => render(<QuestionsPage workspace={workspace as unknown as Workspace} />, document.body));
  return workspace;
}

const press = (key: string) => act(async () => void dispatchEvent(new KeyboardEvent("keydown", { key })));
const shown = () => document.querySelectorAll(".choice").length;

beforeEach(() => render(null, document.body));
afterEach(() => render(null, document.body));

test("a question is shown once every key on the page has its meaning", async () => {
  await show({ now });
  expect(shown()).toBe(0);
  expect(document.querySelector("h1")?.textContent).toBe("…");
  const { skip, answer } = await show({ now, session });
  expect(shown()).toBe(1);
  await press("s");
  expect(skip).toHaveBeenCalledTimes(1);
  await press("y");
  expect(answer).toHaveBeenCalledTimes(1);
});
