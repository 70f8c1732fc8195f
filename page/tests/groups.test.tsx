import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError, Client } from "../src/api/client";
import type { GroupCard, MemberPage, MemberView } from "../src/api/schema";
import { GroupPage } from "../src/views/groups/group";
import { GroupsPage } from "../src/views/groups/groups";
import { MemberPages, PAGE_SIZE } from "../src/views/groups/members";
import { nextIndex } from "../src/views/groups/use-selection";
import { virtualWindow } from "../src/views/groups/virtual-list";
import { MapPage } from "../src/views/map/map";
import type { Workspace } from "../src/workspace/use-workspace";

const item = (id: string) => ({ id, kind: "image", preview: `/p/${id}` });
const group = (number: number, size = 3): GroupCard => ({
  number,
  name: `Kind ${number}`,
  place: 0,
  named: true,
  size,
  representatives: [item(`r${number}`)],
  purity: number === 1 ? 0.924 : null,
  doubtful: number === 1 ? [{ ...item("d1"), position: 7 }] : [],
});
const member = (position: number): MemberView => ({
  ...item(`item ${position}`),
  position,
  sure: position === 2 ? 0.41 : 0.97,
  answered: position === 1,
});

/** A small server with the shapes of the real one; what was sent to it is kept. */
let sent: [string, string, unknown][] = [];
let refuse: { status: number; message: string } | null = null;
const reply = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });

async function serve(path: string, init: RequestInit = {}): Promise<Response> {
  const { pathname, searchParams } = new URL(path, "http://here");
  const method = init.method ?? "GET";
  if (method !== "GET") sent.push([method, pathname, JSON.parse(String(init.body ?? "null"))]);
  if (method !== "GET" && refuse) {
    return reply({ error: { message: refuse.message, what_to_do: "Try again." } }, refuse.status);
  }
  if (pathname.startsWith("/api/acts/")) return reply({ number: 12, message: "Done so.", now: null });
  if (pathname.startsWith("/api/answers/") || pathname === "/api/refit") return reply({});
  if (pathname === "/api/groups") return reply({ snapshot: 1, groups: [1, 2, 3].map((n) => group(n)) });
  if (pathname === "/api/map") {
    const groups = [{ number: 1, name: "Kind 1", size: 2 }];
    return reply({ snapshot: 1, version: 1, stage: "pca", n: 2, groups });
  }
  if (pathname === "/api/map/points") return new Response(new ArrayBuffer(20));
  const found = /^\/api\/groups\/(\d+)$/.exec(pathname);
  if (!found) return reply({ error: { message: "Not there." } }, 404);
  const order = searchParams.get("order");
  const items = [1, 2, 3].map(member);
  if (order === "doubtful") items.reverse();
  return reply({ group: group(Number(found[1])), offset: 0, items });
}

const refresh = vi.fn();
const workspace = () =>
  ({
    client: new Client(),
    session: { items: 9, formats: ["csv"] },
    now: { progress: { snapshot: 1, answers: 4 } },
    refresh,
  }) as unknown as Workspace;

beforeEach(() => {
  sent = [];
  refuse = null;
  refresh.mockClear();
  vi.stubGlobal("fetch", serve);
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
});
afterEach(() => {
  document.querySelector<HTMLButtonElement>("[aria-label='Dismiss']")?.click();
  render(null, document.body);
  vi.unstubAllGlobals();
});

const settle = () => act(() => new Promise((done) => setTimeout(done, 20)));
async function show(view: preact.JSX.Element) {
  void act(() => render(view, document.body));
  await settle();
}
async function press(key: string, target: EventTarget = document.body, more: KeyboardEventInit = {}) {
  void act(() => {
    target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  });
  await settle();
}
const choose = (name: string) =>
  act(() => document.querySelector<HTMLInputElement>(`[aria-label="Select ${name}"]`)?.click());

// -- long lists ----------------------------------------------------------------------------------

const CELL = { minWidth: 100, height: (width: number) => width, gap: 10 };

test("of a hundred thousand cells only those near the screen are rendered", () => {
  const part = virtualWindow(CELL, 100_000, 1090, 500_000, 500_800);
  expect(part.columns).toBe(10);
  expect(part.last - part.first).toBeLessThan(200);
  expect(part.first).toBeLessThanOrEqual(Math.floor(500_000 / part.rowHeight) * 10);
  expect(part.top).toBe((part.first / 10) * part.rowHeight);
  expect(part.height).toBe(10_000 * part.rowHeight - 10);
});

test("lists that are scrolled too far, empty, or without width are no problem", () => {
  expect(virtualWindow(CELL, 5, 1090, 90_000, 90_800)).toMatchObject({ last: 5 });
  expect(virtualWindow(CELL, 0, 1090, 0, 800)).toMatchObject({ first: 0, last: 0, height: 0 });
  expect(virtualWindow(CELL, 5, 0, 0, 800).columns).toBe(1);
});

test("arrow keys move over a grid and stop at its edges", () => {
  const from = (key: string, at: number) => nextIndex(key, at, 4, 10);
  expect([from("ArrowRight", 0), from("ArrowDown", 1), from("ArrowUp", 6)]).toEqual([1, 5, 2]);
  expect([from("ArrowLeft", 0), from("ArrowUp", 3), from("ArrowDown", 9)]).toEqual([0, 3, 9]);
  expect(from("ArrowDown", 7)).toBe(9); // the last row is shorter
  expect([from("Home", 7), from("End", 2), from("y", 2)]).toEqual([0, 9, null]);
});

function pagesOf(total: number, read = vi.fn()) {
  let first = 0;
  const pages = new MemberPages(async (offset, limit): Promise<MemberPage> => {
    read(offset);
    const count = Math.max(0, Math.min(limit, total - offset));
    const items = Array.from({ length: count }, (_, k) => member(first + offset + k));
    return { group: group(1, total), offset, items };
  }, vi.fn());
  return { pages, read, shift: (by: number) => (first = by) };
}

test("members are read page by page, each once, also over the edge of a page", async () => {
  const { pages, read } = pagesOf(1000);
  const some = await pages.range(PAGE_SIZE - 2, PAGE_SIZE + 3);
  expect(some.map((one) => one.position)).toEqual([98, 99, 100, 101, 102]);
  await pages.range(0, 2 * PAGE_SIZE);
  expect(read.mock.calls).toEqual([[0], [100]]);
  expect(pages.at(150)?.position).toBe(150);
  expect(pages.at(999)).toBeUndefined();
  expect(pages.total).toBe(1000);
});

test("after an update the old members stay in view until new ones arrive", async () => {
  const { pages, shift } = pagesOf(300);
  await pages.range(0, 300);
  shift(5000);
  pages.invalidate();
  expect(pages.at(0)?.position).toBe(0);
  await pages.range(0, 1);
  expect(pages.at(0)?.position).toBe(5000);
  expect(pages.at(250)).toBeUndefined();
});

test("a page that could not be read is an error and can be read again", async () => {
  let broken = true;
  const pages = new MemberPages(async (offset) => {
    if (broken) throw new ApiError(0, "Cannot reach samekind.");
    return { group: group(1), offset, items: [member(1)] };
  }, vi.fn());
  await expect(pages.range(0, 1)).rejects.toThrow("Cannot reach");
  expect(pages.error?.message).toContain("Cannot reach");
  broken = false;
  await pages.range(0, 1);
  expect(pages.error).toBeNull();
});

// -- the gallery ---------------------------------------------------------------------------------

test("a card shows name, size, fit, typical and uncertain items", async () => {
  await show(<GroupsPage workspace={workspace()} />);
  const cards = [...document.querySelectorAll(".group-card")];
  expect(cards).toHaveLength(3);
  expect(cards[0]?.textContent).toContain("about 92% fit");
  expect(cards[1]?.textContent).toContain("fit not known yet");
  expect(cards[0]?.querySelector<HTMLAnchorElement>(".doubtful-items")?.href).toContain("/groups/1#doubtful");
  expect(cards[0]?.querySelectorAll(".representatives img")).toHaveLength(1);
});

test("two selected groups are merged with m, and z undoes it", async () => {
  await show(<GroupsPage workspace={workspace()} />);
  void choose("Kind 1");
  await press("m");
  expect(sent).toEqual([]);
  void choose("Kind 3");
  await press("m");
  expect(sent).toEqual([["POST", "/api/acts/merge", { groups: [1, 3], set_aside: false }]]);
  expect(document.querySelector(".toast")?.textContent).toContain("Done so.");
  expect(document.querySelectorAll(".group-card.selected")).toHaveLength(0);
  expect(document.querySelectorAll(".group-card.pending")).toHaveLength(2);
  expect(refresh).toHaveBeenCalledTimes(1);
  await press("z");
  expect(sent.slice(1).map(([method, path]) => [method, path])).toEqual([
    ["DELETE", "/api/answers/12"],
    ["POST", "/api/refit"],
  ]);
  expect(document.querySelector(".toast")?.textContent).toContain("Undone");
  await press("z");
  expect(sent).toHaveLength(3);
});

test("a group dragged onto another is merged with it, onto itself it is not", async () => {
  await show(<GroupsPage workspace={workspace()} />);
  const [one, two] = [...document.querySelectorAll(".group-card")];
  // Where the elements of a test know no such event, Preact listens to its name as it is written.
  const drag = (name: string, on: Element | undefined) => {
    const type = `on${name.toLowerCase()}` in document.body ? name.toLowerCase() : name;
    void act(() => void on?.dispatchEvent(new Event(type, { bubbles: true, cancelable: true })));
  };
  for (const type of ["DragStart", "DragOver", "Drop"]) drag(type, one);
  await settle();
  expect(sent).toEqual([]);
  drag("DragStart", one);
  drag("DragOver", two);
  await settle();
  expect(two?.classList.contains("over")).toBe(true);
  drag("Drop", two);
  await settle();
  expect(sent).toEqual([["POST", "/api/acts/merge", { groups: [1, 2], set_aside: false }]]);
});

test("a rejected act says that nothing was changed, and keeps the selection", async () => {
  refuse = { status: 409, message: "They were told to be different." };
  await show(<GroupsPage workspace={workspace()} />);
  void choose("Kind 1");
  void choose("Kind 2");
  await press("m");
  expect(document.querySelector(".toast.error")?.textContent).toContain(
    "Nothing was changed. They were told to be different. Try again.",
  );
  expect(document.querySelectorAll(".group-card.selected")).toHaveLength(2);
  expect(refresh).not.toHaveBeenCalled();
});

// -- one group -----------------------------------------------------------------------------------

const list = () => document.querySelector<HTMLElement>("[role=listbox]") ?? document.body;
const options = () => [...document.querySelectorAll<HTMLElement>("[role=option]")];
const selected = () => options().map((one) => one.getAttribute("aria-selected") === "true");

test("items are selected by click, by shift-click, by arrow keys and space", async () => {
  await show(<GroupPage workspace={workspace()} number={1} />);
  expect(options().map((one) => one.getAttribute("aria-label"))).toEqual([
    "item 1, answered by you",
    "item 2, 41% certain",
    "item 3, 97% certain",
  ]);
  void act(() => options()[0]?.click());
  await settle();
  expect(selected()).toEqual([true, false, false]);
  void act(() => {
    options()[2]?.dispatchEvent(new MouseEvent("click", { shiftKey: true, bubbles: true }));
  });
  await settle();
  expect(selected()).toEqual([true, true, true]);
  await press("Escape");
  expect(selected()).toEqual([false, false, false]);
  await press("Home", list());
  await press("ArrowRight", list());
  await press(" ", list());
  expect(selected()).toEqual([false, true, false]);
  await press("ArrowRight", list(), { shiftKey: true });
  expect(selected()).toEqual([false, true, true]);
  expect(document.querySelector(".selection-bar")?.textContent).toContain("2 selected");
});

test("selected items become a new group, or are removed", async () => {
  await show(<GroupPage workspace={workspace()} number={1} />);
  await press("k");
  expect(sent).toEqual([]);
  void act(() => options()[1]?.click());
  await press("k");
  expect(sent).toEqual([["POST", "/api/acts/split", { group: 1, items: [2], set_aside: false }]]);
  expect(selected()).toEqual([false, false, false]);
  expect(options()[1]?.classList.contains("pending")).toBe(true);
  void act(() => options()[2]?.click());
  await press("x");
  expect(sent[1]).toEqual(["POST", "/api/acts/out", { items: [3], set_aside: false }]);
});

test("selected items are moved to a group found by its name", async () => {
  HTMLDialogElement.prototype.showModal ??= () => undefined;
  await show(<GroupPage workspace={workspace()} number={1} />);
  void act(() => options()[0]?.click());
  await press("g");
  const field = document.querySelector<HTMLInputElement>("dialog input");
  expect(document.querySelectorAll("dialog [role=option]")).toHaveLength(2); // not its own group
  void act(() => {
    if (field) field.value = "kind 3";
    field?.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await settle();
  await press("Enter", field ?? document.body);
  expect(sent).toEqual([["POST", "/api/acts/move", { items: [1], to: 3, set_aside: false }]]);
  expect(document.querySelector("dialog")).toBeNull();
});

test("uncertain items come first on request", async () => {
  await show(<GroupPage workspace={workspace()} number={1} />);
  const [, doubtful] = document.querySelectorAll<HTMLInputElement>("input[type=radio]");
  void act(() => doubtful?.click());
  await settle();
  expect(options()[0]?.getAttribute("aria-label")).toContain("item 3");
});

// -- the map where nothing can be drawn ------------------------------------------------------------

test("a browser that cannot draw says so and leads to the groups", async () => {
  HTMLCanvasElement.prototype.getContext = () => null;
  await show(<MapPage workspace={workspace()} />);
  await settle();
  expect(document.body.textContent).toContain("cannot draw the map");
  expect(document.body.textContent).toContain("quick sketch");
  expect(document.querySelector<HTMLAnchorElement>(".notice a")?.getAttribute("href")).toBe("/groups");
});
