/** Groups changed by hand, and the map: shapes and calls. Every act is an entry in the ledger. */

import { Api, call, Fault, type Group, type Item, type Now } from "./api";

/** An item that may be named by its place in the collection. */
export interface Placed extends Item {
  position?: number;
}

export interface GroupCard extends Group {
  /** The share of the members that are expected to belong there; null: not known. */
  purity: number | null;
  /** The least sure members. */
  doubtful: Placed[];
}

export interface Member extends Item {
  position: number;
  /** From 0 to 1: how sure it is that this item belongs here. */
  sure: number;
  /** Whether the person has told something about it. */
  answered: boolean;
}

export interface MemberPage {
  group: GroupCard;
  offset: number;
  items: Member[];
}

export type Order = "typical" | "doubtful";

/** What an act led to; `number` takes it back. */
export interface Acted {
  number: number;
  message: string;
  now: Now;
}

export interface MapGroup {
  number: number;
  name: string;
  size: number;
}

export interface MapInfo {
  snapshot: number;
  version: number;
  stage: "pca" | "neighbours";
  n: number;
  groups: MapGroup[];
}

/** So many items may be named in one act. */
export const MOST_ITEMS = 5_000;

/** The calls about one orientation. */
export class ActsApi {
  constructor(readonly api: Api) {}

  private act = (name: string, body: unknown) =>
    call<Acted>("POST", this.api.path(`acts/${name}`), body);

  merge = (a: number, b: number) => this.act("merge", { groups: [a, b] });
  split = (group: number, items: number[]) => this.act("split", { group, items });
  move = (items: number[], to: number) => this.act("move", { items, to });
  out = (items: number[]) => this.act("out", { items });
  together = (items: number[]) => this.act("together", { items });

  groups = () => call<{ snapshot: number; groups: GroupCard[] }>("GET", this.api.path("groups"));
  members = (number: number, order: Order, offset: number, limit: number) =>
    call<MemberPage>("GET", this.api.path(`groups/${number}`, { order, offset, limit }));

  map = () => call<MapInfo>("GET", this.api.path("map"));
  mapItems = async (positions: number[]): Promise<Item[]> => {
    const path = this.api.path("map/items", { positions: positions.join(",") });
    return (await call<{ items: Item[] }>("GET", path)).items;
  };
  mapPoints = async (version: number): Promise<ArrayBuffer> => {
    const reply = await fetch(this.api.path("map/points", { version })).catch(() => null);
    if (reply === null) throw new Fault(0, "samekind does not answer.", "Is it still running?");
    if (!reply.ok) {
      const type = reply.status === 404 ? "unknown-map" : "";
      throw new Fault(reply.status, "The points of the map could not be read.", "", type);
    }
    return reply.arrayBuffer();
  };
}
