/** Progress, contradictions and orientations side by side: shapes and calls. */

import { type Answer, Api, call, type Conflict, type Item } from "./api";

export interface KindCount {
  kind: string;
  prompt: string;
  answers: number;
  unsure: number;
  seconds: number;
  timed: number;
  median: number | null;
}

export interface Quality {
  checks: number;
  agreed: number;
  share: number;
  low: number;
  high: number;
}

export interface Gain {
  answers: number;
  items: number;
  share: number;
  little: boolean;
}

export interface Report {
  answers: number;
  unsure: number;
  items: number;
  placed: number;
  groups: number;
  conflicts: number;
  snapshot: number;
  kinds: KindCount[];
  choices: Record<string, number>;
  people: Record<string, number>;
  seconds: number;
  timed: number;
  checks: number;
  checking: boolean;
  checks_needed: number;
  quality: Quality | null;
  gain: Gain | null;
  moved: number | null;
  enough: boolean;
  words: string;
}

export interface CurvePoint {
  answers: number;
  settled: number;
  quality: Quality | null;
}

export interface Curve {
  points: CurvePoint[];
  pending: number;
  message: string;
}

export interface Step {
  number: number;
  a: Item;
  b: Item;
  same: boolean;
}

export interface Doubt {
  number: number;
  implied: string | null;
}

/** A contradiction, link by link; `settle` has the answers worth asking again, the best first. */
export interface Clash extends Conflict {
  steps: Step[];
  settle: Doubt[];
}

/** An answer that all others speak against. */
export interface Odd {
  answer: Answer;
  said: number;
  likely: number;
  others: number;
  words: string;
}

export interface OrientationInfo {
  name: string;
  answers: number;
  began: number | null;
  latest: number | null;
}

export interface Share {
  number: number;
  name: string;
  size: number;
  shown: Item[];
}

export interface Side {
  name: string;
  answers: number;
  snapshot: number;
  groups: Share[];
}

export interface Comparison {
  a: Side;
  b: Side;
  items: number;
  cells: number[][];
  agreement: number;
  words: string;
}

export interface Cell {
  total: number;
  offset: number;
  items: Item[];
}

/** The calls about one orientation, or about two of them. */
export class ProgressApi {
  constructor(readonly api: Api) {}

  report = () => call<Report>("GET", this.api.path("progress/report"));
  curve = () => call<Curve>("GET", this.api.path("progress/curve"));
  clashes = async () =>
    (await call<{ conflicts: Clash[] }>("GET", this.api.path("conflicts"))).conflicts;
  odd = async () => (await call<{ odd: Odd[] }>("GET", this.api.path("odd"))).odd;
  orientations = async () => {
    const path = this.api.path("orientations/list");
    return (await call<{ orientations: OrientationInfo[] }>("GET", path)).orientations;
  };
  compare = (a: string, b: string) => call<Comparison>("GET", this.api.path("compare", { a, b }));
  cell = (a: string, b: string, row: number, column: number, offset: number, limit = 24) =>
    call<Cell>("GET", this.api.path("compare/cell", { a, b, row, column, offset, limit }));
}
