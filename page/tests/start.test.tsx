import { render } from "preact";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { JobView } from "../src/api/schema";
import { ago, bytes, countItems } from "../src/format";
import { currentRoute, href, navigate } from "../src/router";
import { StartPage } from "../src/views/start/start";

const job = (more: Partial<JobView> = {}): JobView => ({
  id: "0123456789abcdef",
  kind: "open",
  title: "Open photos",
  state: "running",
  share: 0.4,
  words: "Turned 40 of 100 items into vectors",
  pile: "photos-1",
  session: "",
  can_go_on: false,
  seconds: 3,
  ...more,
});

const about = {
  version: "1.2.3",
  paths: true,
  pile: null,
  recent: [
    {
      pile: "photos-1",
      name: "photos",
      path: "/home/me/photos",
      kind: "image",
      items: 100,
      encoder: "",
      at: 0,
      open: false,
      finished: true,
    },
  ],
  demos: [{ path: "tiles", line: "Drawn tiles." }],
  kinds: { ".csv": "one row per item" },
};

const found = {
  path: "/home/me/photos",
  pile: "photos-1",
  name: "photos",
  kind: "image",
  items: 100,
  skipped: [{ id: "a.pdf", reason: "is a .pdf file" }],
  skipped_total: 1,
  encoder: "lite",
  reason: "it works offline",
  encoders: [
    { name: "lite", line: "A network.", learns: false, why_not: "" },
    { name: "pixels", line: "Colours.", learns: false, why_not: "" },
    { name: "simclr", line: "Learns.", learns: true, why_not: "" },
    { name: "none", line: "Missing.", learns: false, why_not: "it is not installed" },
  ],
  answers: 0,
  orientations: [],
  examples: [],
};

type Reply = [number, unknown];
let replies: Record<string, Reply>;
const sent: { path: string; body: unknown }[] = [];

beforeEach(() => {
  history.replaceState(null, "", "/start");
  sent.length = 0;
  replies = {
    "/api/start": [200, about],
    "/api/jobs": [200, { jobs: [] }],
    "/api/start/look": [200, found],
    "/api/start/measure": [200, { encoder: "lite", seconds: 40, words: "About 40 s." }],
    "/api/start/open": [202, job()],
    "/api/start/again": [202, job()],
    "/api/jobs/0123456789abcdef": [200, job()],
  };
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    sent.push({ path, body: init.body ? JSON.parse(String(init.body)) : undefined });
    const [status, body] = replies[path.split("?")[0] ?? ""] ?? [404, { error: { message: path } }];
    return new Response(JSON.stringify(body), { status });
  });
  render(null, document.body);
});
afterEach(() => {
  render(null, document.body);
  vi.unstubAllGlobals();
});

const text = () => document.body.textContent ?? "";
const bodyOf = (path: string) => sent.findLast((one) => one.path === path)?.body;
const click = (label: string) =>
  [...document.querySelectorAll("button")].find((b) => b.textContent?.includes(label))?.click();

function type(value: string) {
  const input = document.querySelector<HTMLInputElement>("#path");
  if (!input) throw new Error("There is no input for a path");
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

async function looked() {
  render(<StartPage wanted={null} opened={() => undefined} />, document.body);
  await vi.waitFor(() => expect(text()).toContain("What would you like to sort?"));
  await vi.waitFor(() => expect(document.querySelector("#path")).not.toBeNull());
  type("/home/me/photos");
  await vi.waitFor(() => expect(document.querySelector<HTMLButtonElement>(".path-row button")?.disabled).toBe(false));
  document.querySelector("form")?.dispatchEvent(new Event("submit", { cancelable: true }));
  await vi.waitFor(() => expect(text()).toContain("100 pictures in photos"));
}

test("recent collections and the demo are one click away", async () => {
  render(<StartPage wanted={null} opened={() => undefined} />, document.body);
  await vi.waitFor(() => expect(text()).toContain("Recent"));
  expect(text()).toContain("/home/me/photos");
  click("Try the demo");
  await vi.waitFor(() => expect(bodyOf("/api/start/open")).toEqual({ path: "tiles", encoder: null, minutes: null, bursts: null }));
  await vi.waitFor(() => expect(text()).toContain("40%"));
});

test("what was found is shown with the encoder, its reason and a measured time", async () => {
  await looked();
  expect(text()).toContain("1 file skipped");
  expect(text()).toContain("A network. It works offline.");
  await vi.waitFor(() => expect(text()).toContain("About 40 s."));
  expect(document.querySelector<HTMLInputElement>("[value=none]")?.disabled).toBe(true);
});

test("another encoder is measured again, and one that learns asks for minutes", async () => {
  await looked();
  document.querySelector<HTMLInputElement>("[value=pixels]")?.click();
  await vi.waitFor(() =>
    expect(sent.filter((one) => one.path.endsWith("measure")).at(-1)?.body).toEqual({
      path: "/home/me/photos",
      encoder: "pixels",
    }),
  );
  document.querySelector<HTMLInputElement>("[value=simclr]")?.click();
  await vi.waitFor(() => expect(text()).toContain("Train for"));
  document.querySelector("form")?.dispatchEvent(new Event("submit", { cancelable: true }));
  await vi.waitFor(() =>
    expect(sent.find((one) => one.path.endsWith("start/open"))?.body).toEqual({
      path: "/home/me/photos",
      encoder: "simclr",
      minutes: 10,
      bursts: null,
    }),
  );
});

test("a job that ends opens the collection, one that fails says why", async () => {
  const opened = vi.fn();
  replies["/api/start/open"] = [202, job({ state: "finished", share: 1 })];
  render(<StartPage wanted={null} opened={opened} />, document.body);
  await vi.waitFor(() => expect(text()).toContain("Try the demo"));
  click("Try the demo");
  await vi.waitFor(() => expect(opened).toHaveBeenCalledWith("photos-1"));
  replies["/api/start/open"] = [202, job({ state: "failed", words: "The disk is full." })];
  render(null, document.body);
  render(<StartPage wanted={null} opened={opened} />, document.body);
  await vi.waitFor(() => expect(text()).toContain("Try the demo"));
  click("Try the demo");
  await vi.waitFor(() => expect(text()).toContain("The disk is full."));
});

test("an address with a collection that is not open opens it", async () => {
  render(<StartPage wanted="photos-1" opened={() => undefined} />, document.body);
  await vi.waitFor(() => expect(bodyOf("/api/start/again")).toEqual({ pile: "photos-1" }));
  await vi.waitFor(() => expect(text()).toContain("Turned 40 of 100 items"));
});

test("an opening that is under way is shown again after a reload, and can be cancelled", async () => {
  replies["/api/jobs"] = [200, { jobs: [job()] }];
  replies["/api/jobs/0123456789abcdef/cancel"] = [200, job()];
  render(<StartPage wanted={null} opened={() => undefined} />, document.body);
  await vi.waitFor(() => expect(text()).toContain("Turned 40 of 100 items"));
  click("Cancel");
  await vi.waitFor(() => expect(sent.some((one) => one.path.endsWith("/cancel"))).toBe(true));
  expect(text()).toContain("Stopping");
});

test("interrupted work can be continued", async () => {
  replies["/api/jobs"] = [200, { jobs: [job({ state: "interrupted", can_go_on: true })] }];
  replies["/api/jobs/0123456789abcdef/again"] = [202, job()];
  render(<StartPage wanted={null} opened={() => undefined} />, document.body);
  await vi.waitFor(() => expect(text()).toContain("was interrupted"));
  click("Continue");
  await vi.waitFor(() => expect(sent.some((one) => one.path.endsWith("/again"))).toBe(true));
});

test("an error is shown in words", async () => {
  replies["/api/start/look"] = [404, { error: { type: "SourceError", message: "There is nothing." } }];
  render(<StartPage wanted={null} opened={() => undefined} />, document.body);
  await vi.waitFor(() => expect(document.querySelector("#path")).not.toBeNull());
  type("/nowhere");
  await vi.waitFor(() => expect(document.querySelector<HTMLButtonElement>(".path-row button")?.disabled).toBe(false));
  document.querySelector("form")?.dispatchEvent(new Event("submit", { cancelable: true }));
  await vi.waitFor(() => expect(document.querySelector("[role=alert]")?.textContent).toContain("There is nothing."));
});

test("the collection stays in addresses", () => {
  expect(href({ path: "/groups", session: null })).toBe("/groups");
  history.replaceState(null, "", "/groups?session=by%20shape&pile=photos-1");
  expect(currentRoute()).toEqual({ path: "/groups", session: "by shape", pile: "photos-1" });
  expect(href({ path: "/", session: null })).toBe("/?pile=photos-1");
  expect(href({ path: "/", session: "a b" })).toBe("/?session=a%20b&pile=photos-1");
  expect(href({ path: "/", session: null, pile: null })).toBe("/");
  navigate({ path: "/", session: null, pile: "other" });
  expect(location.search).toBe("?pile=other");
});

test("words for numbers, times and sizes", () => {
  expect(countItems(1, "image")).toBe("1 picture");
  expect(countItems(2000, "row")).toBe("2,000 rows");
  expect(countItems(2, "node")).toBe("2 items");
  expect(ago(1000, 1030)).toBe("just now");
  expect(ago(0, 3700)).toBe("1 hour ago");
  expect(ago(0, 3 * 86_400)).toBe("3 days ago");
  expect(bytes(900)).toBe("900 bytes");
  expect(bytes(1_234_567)).toBe("1.2 MB");
});
