/** Start, Finish and long work: shapes and calls. */

import { Api, call, type Item } from "./api";

export interface Job {
  id: string;
  kind: "open" | "polish" | "export";
  title: string;
  state: "queued" | "running" | "finished" | "failed" | "cancelled" | "interrupted";
  /** How much is done, 0 to 1; null while that is not known. */
  share: number | null;
  words: string;
  pile: string;
  session: string;
  /** Whether it was cut off and can be taken up again. */
  can_go_on: boolean;
  seconds: number;
}

export interface RecentPile {
  pile: string;
  name: string;
  path: string;
  kind: string;
  items: number;
  encoder: string;
  at: number;
  open: boolean;
  finished: boolean;
}

export interface StartInfo {
  version: string;
  /** Whether paths may be typed. */
  paths: boolean;
  pile: string | null;
  recent: RecentPile[];
  demos: { path: string; line: string }[];
  kinds: Record<string, string>;
}

export interface Encoder {
  name: string;
  line: string;
  /** Whether it first learns from the person's own pictures. */
  learns: boolean;
  why_not: string;
}

export interface Found {
  path: string;
  pile: string;
  name: string;
  kind: string;
  items: number;
  skipped: { id: string; reason: string }[];
  skipped_total: number;
  encoder: string;
  reason: string;
  encoders: Encoder[];
  answers: number;
  orientations: string[];
  examples: string[];
}

export interface Measured {
  encoder: string;
  seconds: number;
  words: string;
}

export interface Agreement {
  agreed: number;
  of: number;
  low: number;
  high: number;
}

export interface NamedGroup {
  number: number;
  name: string;
  size: number;
}

export interface PolishResult {
  id: string;
  method: string;
  answers: number;
  seconds: number;
  kept_aside: string;
  before: Agreement | null;
  after: Agreement | null;
  verdict: string;
  changed: number;
  items: number;
  groups_before: NamedGroup[];
  groups_after: NamedGroup[];
  flows: { before: number; after: number; items: number }[];
  moved: { item: Item; before: string; after: string }[];
}

export interface PolishInfo {
  offered: boolean;
  why_not: string;
  device: string;
  gpu: boolean;
  minutes: number;
  estimate: string;
  advice: string;
  methods: { name: string; line: string }[];
  result: PolishResult | null;
  accepted: string | null;
}

export interface Format {
  name: string;
  label: string;
  line: string;
  modes: string[];
  download: boolean;
  suggestion: string;
  why_not: string;
}

export interface Made {
  job: string;
  target: string;
  files: number;
  at: number;
  undo: boolean;
  undone: boolean;
}

export interface FinishInfo {
  paths: boolean;
  formats: Format[];
  made: Made[];
}

export interface Wish {
  format: string;
  mode: string;
  target: string;
}

export interface Plan {
  snapshot: number;
  format: string;
  target: string;
  items: number;
  groups: number;
  files: number;
  bytes: number | null;
  folders: { name: string; files: number }[];
  names: string[];
  conflicts: string[];
  notes: string[];
}

export const going = (job: Job): boolean => job.state === "queued" || job.state === "running";

/** Long work of the whole server. */
export const jobs = {
  all: () => call<{ jobs: Job[] }>("GET", "/api/jobs"),
  one: (id: string) => call<Job>("GET", `/api/jobs/${id}`),
  cancel: (id: string) => call<Job>("POST", `/api/jobs/${id}/cancel`),
  again: (id: string) => call<Job>("POST", `/api/jobs/${id}/again`),
};

/** Opening piles. */
export const start = {
  about: () => call<StartInfo>("GET", "/api/start"),
  look: (path: string) => call<Found>("POST", "/api/start/look", { path }),
  measure: (path: string, encoder: string) =>
    call<Measured>("POST", "/api/start/measure", { path, encoder }),
  open: (path: string, encoder: string | null, minutes: number | null) =>
    call<Job>("POST", "/api/start/open", { path, encoder, minutes }),
  again: (pile: string) => call<Job>("POST", "/api/start/again", { pile }),
  forget: (pile: string) => call<StartInfo>("POST", "/api/start/forget", { pile }),
};

/** Taking the groups home, and polishing them. */
export class FinishApi {
  constructor(readonly api: Api) {}

  about = () => call<FinishInfo>("GET", this.api.path("finish"));
  plan = (wish: Wish) => call<Plan>("POST", this.api.path("finish/plan"), wish);
  run = (wish: Wish, snapshot: number) =>
    call<Job>("POST", this.api.path("finish/run"), { ...wish, snapshot });
  undo = (target: string) =>
    call<{ removed: number; kept: string[]; message: string }>("POST", "/api/finish/undo", {
      target,
    });
  /** Where a file is downloaded from. */
  file = (format: string) =>
    format === "orientation"
      ? this.api.path("finish/orientation")
      : this.api.path("export", { format });
  polish = () => call<PolishInfo>("GET", this.api.path("polish"));
  begin = (method: string, minutes: number) =>
    call<Job>("POST", this.api.path("polish"), { method, minutes });
  decide = (what: "accept" | "reject" | "back") =>
    call<PolishInfo>("POST", this.api.path(`polish/${what}`));
}
