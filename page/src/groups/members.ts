/** The members of a group, read page by page as they come into view. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { ActsApi, GroupCard, Member, MemberPage, Order } from "../acts-api";
import { Fault } from "../api";

export const PAGE = 100;

type Read = (offset: number, limit: number) => Promise<MemberPage>;

/** Pages by number; what is not there is read once, however often it is asked for. */
export class MemberPages {
  group: GroupCard | null = null;
  fault: Fault | null = null;
  private readonly pages = new Map<number, Member[]>();
  private readonly reading = new Map<number, Promise<Member[]>>();
  private turn = 0;
  /** The turn that the pages in view belong to. */
  private settled = 0;

  constructor(
    private readonly read: Read,
    private readonly changed: () => void,
  ) {}

  get total(): number {
    return this.group?.size ?? 0;
  }

  at(index: number): Member | undefined {
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** The groups have changed: what was there stays in view until the first new page comes. */
  renew(): void {
    this.turn += 1;
    this.reading.clear();
  }

  /** Members from `first` up to, not including, `last`; those that are missing are read. */
  async range(first: number, last: number): Promise<Member[]> {
    if (last <= first) return [];
    const from = Math.floor(first / PAGE);
    const count = Math.floor((last - 1) / PAGE) - from + 1;
    const pages = await Promise.all(Array.from({ length: count }, (_, k) => this.page(from + k)));
    return pages.flat().slice(first - from * PAGE, last - from * PAGE);
  }

  private page(number: number): Promise<Member[]> {
    const known = this.reading.get(number);
    if (known) return known;
    const turn = this.turn;
    const coming = this.read(number * PAGE, PAGE).then(
      (page) => {
        if (turn === this.turn) this.take(number, page);
        return page.items;
      },
      (problem: Fault) => {
        if (turn === this.turn) {
          this.reading.delete(number);
          this.fault = problem;
          this.changed();
        }
        throw problem;
      },
    );
    this.reading.set(number, coming);
    return coming;
  }

  private take(number: number, page: MemberPage): void {
    if (this.settled !== this.turn) this.pages.clear();
    this.settled = this.turn;
    this.pages.set(number, page.items);
    this.group = page.group;
    this.fault = null;
    this.changed();
  }
}

/** The members in an order; read anew when the groups are refreshed. */
export function useMembers(
  api: ActsApi,
  number: number,
  order: Order,
  snapshot: number | undefined,
): MemberPages {
  const [, draw] = useState(0);
  const pages = useMemo(
    () =>
      new MemberPages(
        (offset, limit) => api.members(number, order, offset, limit),
        () => draw((n) => n + 1),
      ),
    [api, number, order],
  );
  useEffect(() => {
    pages.renew();
    void pages.range(0, 1).catch(() => undefined);
  }, [pages, snapshot]);
  return pages;
}
