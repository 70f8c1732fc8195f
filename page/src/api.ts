/** The JSON twin: its shapes, and one way to call it. Errors always come as `Fault`, in words. */

import { ofPile } from "./start/pile";

export interface Item {
  id: string;
  kind: string;
  preview: string | null;
}

export interface Choice {
  value: string;
  label: string;
  keys: string[];
  exemplars: Item[];
}

export interface Question {
  number: number;
  kind: string;
  prompt: string;
  why: string;
  /** Whether several numbers may be chosen at once, joined by commas. */
  many: boolean;
  items: Item[];
  /** The same items, those together that stand for one group. */
  parts: Item[][];
  choices: Choice[];
}

export interface Progress {
  answers: number;
  unsure: number;
  placed: number;
  conflicts: number;
  groups: number;
  snapshot: number;
  due: boolean;
  until_refit: number;
  refitting: boolean;
  trouble: string | null;
  choices: Record<string, number>;
  quality: string;
  gain: number | null;
  enough: boolean;
}

export interface Now {
  question: Question | null;
  message: string;
  progress: Progress;
}

export interface Done {
  number: number | null;
  now: Now;
}

export interface Answer {
  number: number;
  choice: string;
  label: string;
  by: string;
  seconds: number | null;
  question: Question;
}

export interface AnswerList {
  total: number;
  offset: number;
  answers: Answer[];
}

export interface Conflict {
  answer: Answer;
  clash: Answer[];
}

export interface Group {
  number: number;
  name: string;
  named: boolean;
  size: number;
  representatives: Item[];
}

export interface Act {
  name: string;
  label: string;
  keys: string[];
}

export interface Session {
  version: string;
  collection: string;
  items: number;
  skipped: { id: string; reason: string }[];
  skipped_total: number;
  gone: string[];
  session: string;
  orientations: string[];
  formats: string[];
  acts: Act[];
  progress: Progress;
}

/** An answer on its way to the server. */
export interface Told {
  number: number;
  choice: string;
  seconds: number | null;
}

/** What went wrong, in words. `status` 0: the server did not answer at all. */
export class Fault extends Error {
  readonly status: number;
  readonly whatToDo: string;
  /** The server's name for what went wrong. */
  readonly type: string;

  constructor(status: number, message: string, whatToDo = "", type = "") {
    super(message);
    this.status = status;
    this.whatToDo = whatToDo;
    this.type = type;
  }

  /** Whether sending the same again may help: no answer, or a fault of the server. */
  get passing(): boolean {
    return this.status === 0 || this.status >= 500;
  }
}

type Method = "GET" | "POST" | "PUT" | "DELETE";

export async function call<T>(method: Method, path: string, body?: unknown): Promise<T> {
  const init: RequestInit = { method };
  if (method === "POST" || method === "PUT") {
    init.headers = { "Content-Type": "application/json" };
    init.body = JSON.stringify(body ?? {});
  }
  let reply: Response;
  try {
    reply = await fetch(ofPile(path), init);
  } catch {
    throw new Fault(0, "samekind does not answer.", "Is it still running in the terminal?");
  }
  const content: unknown = await reply.json().catch(() => null);
  if (reply.ok) return content as T;
  const error = (content as { error?: { type?: string; message?: string; what_to_do?: string } } | null)?.error;
  throw new Fault(
    reply.status,
    error?.message ?? `The server answered ${reply.status}.`,
    error?.what_to_do ?? "",
    error?.type ?? "",
  );
}

/** All calls about one orientation. */
export class Api {
  readonly session: string | null;

  constructor(session: string | null) {
    this.session = session;
  }

  /** An address with the orientation and other parameters in it. */
  path(address: string, parameters: Record<string, string | number> = {}): string {
    const query = new URLSearchParams();
    if (this.session !== null) query.set("session", this.session);
    for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
    const text = query.toString();
    return ofPile(text ? `/api/${address}?${text}` : `/api/${address}`);
  }

  about = () => call<Session>("GET", this.path("session"));
  question = () => call<Now>("GET", this.path("question"));
  progress = () => call<Progress>("GET", this.path("progress"));
  tell = (told: Told) => call<Done>("POST", this.path("answers"), told);
  skip = (number: number) => call<Done>("POST", this.path("skip"), { number });
  refit = () => call<Progress>("POST", this.path("refit"));
  change = (number: number, choice: string) =>
    call<Done>("PUT", this.path(`answers/${number}`), { choice });
  takeAway = (number: number) => call<Done>("DELETE", this.path(`answers/${number}`));
  answers = (offset = 0, limit = 10) =>
    call<AnswerList>("GET", this.path("answers", { offset, limit }));
  conflicts = () => call<{ conflicts: Conflict[] }>("GET", this.path("conflicts"));
  groups = () => call<{ snapshot: number; groups: Group[] }>("GET", this.path("groups"));
  rename = (number: number, name: string) =>
    call<Group>("PUT", this.path(`groups/${number}`), { name });
  begin = (name: string) => call<Session>("POST", "/api/orientations", { name });
  download = (format: string) => this.path("export", { format });
}
