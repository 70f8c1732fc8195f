import { render } from "preact";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Client } from "../src/api/client";
import type { JobView, PolishResult } from "../src/api/schema";
import { FinishPage } from "../src/views/finish/finish";
import { PolishPage } from "../src/views/finish/polish";
import { PolishComparison } from "../src/views/finish/polish-comparison";
import type { Workspace } from "../src/workspace/use-workspace";

const format = (name: string, label: string, more = {}) => ({
  name,
  label,
  line: `${label} line`,
  modes: [],
  download: true,
  suggestion: `~/photos-main.${name}`,
  why_not: "",
  ...more,
});
const finish = {
  paths: true,
  formats: [
    format("csv", "CSV table"),
    format("parquet", "Parquet table", { why_not: "Needs pyarrow" }),
    format("folders", "Folders", { modes: ["copy", "link"], download: false, suggestion: "~/photos" }),
  ],
  made: [] as unknown[],
};
const plan = {
  snapshot: 3,
  format: "folders",
  target: "~/photos",
  items: 24,
  groups: 2,
  files: 24,
  bytes: 1_500_000,
  folders: [
    { name: "Red", files: 14 },
    { name: "Blue", files: 10 },
  ],
  names: ["Red/a.png"],
  conflicts: [] as string[],
  notes: ["A note."],
};
const job = (more: Partial<JobView> = {}): JobView => ({
  id: "0123456789abcdef",
  kind: "export",
  title: "Export",
  state: "finished",
  share: 1,
  words: "24 files written to ~/photos.",
  pile: "",
  session: "main",
  can_go_on: false,
  seconds: 1,
  ...more,
});
const result: PolishResult = {
  id: "a",
  method: "idc",
  learner: "IDC",
  answers: 40,
  seconds: 60,
  kept_aside: "10 random checks",
  before: { agreed: 7, of: 10, low: 0.35, high: 0.93 },
  after: { agreed: 9, of: 10, low: 0.55, high: 0.99 },
  verdict: "The polished groups agree somewhat better.",
  changed: 4,
  items: 24,
  groups_before: [
    { number: 1, name: "Red", size: 14 },
    { number: 2, name: "Blue", size: 10 },
  ],
  groups_after: [
    { number: 1, name: "Red", size: 12 },
    { number: 2, name: "Blue", size: 12 },
  ],
  flows: [
    { before: 1, after: 1, items: 11 },
    { before: 1, after: 2, items: 3 },
    { before: 2, after: 2, items: 9 },
    { before: 2, after: 1, items: 1 },
  ],
  moved: [
    { item: { id: "x.png", kind: "image", preview: "/api/items/x.png/preview" }, before: "Red", after: "Blue" },
  ],
};
const parameter = (name: string, more = {}) => ({
  name,
  type: "str",
  words: "a text",
  optional: false,
  choices: [] as string[],
  default: null,
  line: `${name} line`,
  ...more,
});
const polish = {
  offered: true,
  why_not: "",
  device: "CPU",
  gpu: false,
  minutes: 30,
  estimate: "About 30 minutes.",
  advice: "Nothing changes before you accept it.",
  methods: [
    { name: "fixmatch", line: "FixMatch line", learner: "FixMatch", paper: "", parameters: [] as unknown[] },
    {
      name: "pcl",
      line: "PCL line",
      learner: "SimCLR + head + FixMatch",
      paper: "A paper, 2025.",
      parameters: [
        parameter("profile", { type: "choice", choices: ["paper", "fast"], default: "fast" }),
        parameter("epochs", { type: "float", words: "a number or none", optional: true }),
        parameter("attention", { type: "bool", optional: true }),
      ],
    },
  ],
  result: null as PolishResult | null,
  accepted: null as string | null,
};

let replies: Record<string, [number, unknown]>;
const sent: { path: string; body: unknown }[] = [];
const refresh = vi.fn();
const workspace = {
  client: new Client(),
  session: { items: 24, session: "main" },
  now: { progress: { answers: 12, groups: 2, snapshot: 3, quality: "" } },
  refresh,
} as unknown as Workspace;

beforeEach(() => {
  sent.length = 0;
  finish.made = [];
  replies = {
    "/api/finish": [200, finish],
    "/api/polish": [200, polish],
    "/api/jobs": [200, { jobs: [] }],
    "/api/finish/plan": [200, plan],
    "/api/finish/run": [202, job()],
  };
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    sent.push({ path, body: init.body ? JSON.parse(String(init.body)) : undefined });
    const [status, body] = replies[path] ?? [404, { error: { message: path } }];
    return new Response(JSON.stringify(body), { status });
  });
});
afterEach(() => {
  render(null, document.body);
  vi.unstubAllGlobals();
});

const text = () => document.body.textContent ?? "";
const button = (label: string) =>
  [...document.querySelectorAll("button")].find((b) => b.textContent === label);

async function folders() {
  render(<FinishPage workspace={workspace} />, document.body);
  await vi.waitFor(() => expect(text()).toContain("CSV table"));
  document.querySelector<HTMLInputElement>("[value=folders]")?.click();
  await vi.waitFor(() => expect(text()).toContain("Link to them"));
  document.querySelector(".format-details form")?.dispatchEvent(new Event("submit", { cancelable: true }));
}

test("a table can be downloaded, and an unavailable format says why", async () => {
  render(<FinishPage workspace={workspace} />, document.body);
  await vi.waitFor(() => expect(document.querySelector("a[download]")).not.toBeNull());
  expect(document.querySelector("a[download]")?.getAttribute("href")).toBe("/api/export?format=csv");
  expect(text()).toContain("Needs pyarrow");
  expect(document.querySelector<HTMLInputElement>("[value=parquet]")?.disabled).toBe(true);
});

test("the plan is shown before anything is written", async () => {
  await folders();
  await vi.waitFor(() => expect(text()).toContain("Nothing has been written yet."));
  expect(sent.some((one) => one.path === "/api/finish/run")).toBe(false);
  expect(text()).toContain("24 files in 2 folders");
  expect(text()).toContain("1.5 MB");
  expect(text()).toContain("A note.");
  button("Export")?.click();
  await vi.waitFor(() => expect(text()).toContain("24 files written to ~/photos."));
  expect(sent.find((one) => one.path === "/api/finish/run")?.body).toEqual({
    format: "folders",
    mode: "copy",
    target: "~/photos",
    snapshot: 3,
    no_formulas: false,
  });
});

test("a plan with conflicts cannot be written", async () => {
  replies["/api/finish/plan"] = [200, { ...plan, conflicts: ["~/photos exists already."] }];
  await folders();
  await vi.waitFor(() => expect(text()).toContain("~/photos exists already."));
  expect(button("Export")?.disabled).toBe(true);
});

test("an export to folders can be undone", async () => {
  finish.made = [{ job: "a", target: "~/photos", files: 24, at: 0, undo: true, undone: false }];
  replies["/api/finish/undo"] = [200, { removed: 24, kept: [], message: "24 files were removed." }];
  render(<FinishPage workspace={workspace} />, document.body);
  await vi.waitFor(() => expect(button("Undo export")).toBeDefined());
  button("Undo export")?.click();
  await vi.waitFor(() => expect(text()).toContain("24 files were removed."));
  expect(sent.find((one) => one.path === "/api/finish/undo")?.body).toEqual({ target: "~/photos" });
});

test("polish is offered with an estimate and started in the background", async () => {
  replies["/api/polish"] = [200, polish];
  render(<PolishPage workspace={workspace} />, document.body);
  await vi.waitFor(() => expect(text()).toContain("About 30 minutes."));
  replies["/api/polish"] = [202, job({ kind: "polish", title: "Polish", state: "running", share: 0.2 })];
  document.querySelector(".polish-form")?.dispatchEvent(new Event("submit", { cancelable: true }));
  await vi.waitFor(() => expect(text()).toContain("20%"));
  expect(sent.findLast((one) => one.path === "/api/polish")?.body).toEqual({
    method: "fixmatch",
    minutes: 30,
    parameters: {},
  });
});

function write(name: string, value: string, kind: "input" | "change" = "input") {
  const field = document.querySelector<HTMLInputElement | HTMLSelectElement>(`.polish-form [name=${name}]`);
  if (field === null) throw new Error(`There is no field ${name}.`);
  field.value = value;
  field.dispatchEvent(new Event(kind, { bubbles: true }));
}

test("the page says which learner trains, and chosen parameters are sent", async () => {
  replies["/api/polish/learner"] = [200, { learner: "PCL" }];
  render(<PolishPage workspace={workspace} />, document.body);
  await vi.waitFor(() => expect(text()).toContain("Trains: FixMatch"));
  write("method", "pcl", "change");
  await vi.waitFor(() => expect(text()).toContain("Trains: SimCLR + head + FixMatch"));
  expect(text()).toContain("A paper, 2025.");
  const options = [...document.querySelectorAll<HTMLOptionElement>("[name=profile] option")];
  expect(options.map((option) => option.textContent)).toEqual(["fast", "paper"]);
  write("profile", "paper", "change");
  await vi.waitFor(() => expect(text()).toContain("Trains: PCL"));
  write("epochs", "20");
  await vi.waitFor(() =>
    expect(sent.findLast((one) => one.path === "/api/polish/learner")?.body).toEqual({
      method: "pcl",
      parameters: { profile: "paper", epochs: "20" },
    }),
  );
  replies["/api/polish"] = [202, job({ kind: "polish", title: "Polish", state: "running", share: 0.2 })];
  document.querySelector(".polish-form")?.dispatchEvent(new Event("submit", { cancelable: true }));
  await vi.waitFor(() => expect(text()).toContain("20%"));
  expect(sent.findLast((one) => one.path === "/api/polish")?.body).toEqual({
    method: "pcl",
    minutes: 30,
    parameters: { profile: "paper", epochs: "20" },
  });
});

test("a wrong parameter is explained, and nothing starts with it", async () => {
  const message = "Expected epochs to be a number or none, got 'many'.";
  replies["/api/polish/learner"] = [422, { error: { type: "input", message, what_to_do: null } }];
  render(<PolishPage workspace={workspace} />, document.body);
  await vi.waitFor(() => expect(text()).toContain("Trains: FixMatch"));
  write("method", "pcl", "change");
  await vi.waitFor(() => expect(document.querySelector("[name=epochs]")).not.toBeNull());
  write("epochs", "many");
  await vi.waitFor(() => expect(text()).toContain(message));
  expect(button("Start")?.disabled).toBe(true);
  const before = sent.filter((one) => one.path === "/api/polish").length;
  document.querySelector(".polish-form")?.dispatchEvent(new Event("submit", { cancelable: true }));
  expect(sent.filter((one) => one.path === "/api/polish").length).toBe(before);
  write("epochs", "");
  await vi.waitFor(() => expect(button("Start")?.disabled).toBe(false));
  expect(text()).toContain("Trains: SimCLR + head + FixMatch");
});

test("polished groups can be accepted", async () => {
  replies["/api/polish"] = [200, { ...polish, result }];
  replies["/api/polish/accept"] = [200, { ...polish, accepted: "idc" }];
  render(<PolishPage workspace={workspace} />, document.body);
  await vi.waitFor(() => expect(text()).toContain("agree somewhat better"));
  button("Use polished groups")?.click();
  await vi.waitFor(() => expect(text()).toContain("You are seeing polished groups (idc)."));
  expect(refresh).toHaveBeenCalled();
});

test("before and after are side by side, with what would move", () => {
  render(<PolishComparison result={result} />, document.body);
  expect(text()).toContain("70%");
  expect(text()).toContain("90%");
  expect(text()).toContain("4 of 24 items would change groups.");
  const cells = [...document.querySelectorAll("tbody td")].map((cell) => cell.textContent);
  expect(cells).toEqual(["11", "3", "1", "9"]);
  expect(document.querySelector("figcaption")?.textContent).toBe("Red → Blue");
});
