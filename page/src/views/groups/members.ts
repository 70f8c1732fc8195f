/** The members of a group, read page by page as they scroll into view. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError, type Client } from "../../api/client";
import type { GroupCard, MemberPage, MemberView, paths } from "../../api/schema";

export const PAGE_SIZE = 100;

export type Order = NonNullable<NonNullable<paths["/api/groups/{number}"]["get"]["parameters"]["query"]>["order"]>;

type ReadPage = (offset: number, limit: number) => Promise<MemberPage>;

/** Pages by number. A missing page is read once, however often it is asked for. */
export class MemberPages {
  group: GroupCard | null = null;
  error: ApiError | null = null;
  private readonly pages = new Map<number, MemberView[]>();
  private readonly requests = new Map<number, Promise<MemberView[]>>();
  /** Counts the updates of the groups; replies to requests of an earlier one are ignored. */
  private generation = 0;
  /** The generation of the pages. */
  private shown = 0;

  constructor(
    private readonly read: ReadPage,
    private readonly changed: () => void,
  ) {}

  get total(): number {
    return this.group?.size ?? 0;
  }

  at(index: number): MemberView | undefined {
    return this.pages.get(Math.floor(index / PAGE_SIZE))?.[index % PAGE_SIZE];
  }

  /** The groups have changed. The old members stay in view until the first new page arrives. */
  invalidate(): void {
    this.generation += 1;
    this.requests.clear();
  }

  /** Members from `first` up to, not including, `last`; missing pages are read. */
  async range(first: number, last: number): Promise<MemberView[]> {
    if (last <= first) return [];
    const from = Math.floor(first / PAGE_SIZE);
    const count = Math.floor((last - 1) / PAGE_SIZE) - from + 1;
    const pages = await Promise.all(Array.from({ length: count }, (_, k) => this.page(from + k)));
    return pages.flat().slice(first - from * PAGE_SIZE, last - from * PAGE_SIZE);
  }

  /** Read what is needed to show a range; an error is kept in `error`. */
  show(first: number, last: number): void {
    this.range(first, last).catch(() => undefined);
  }

  private page(number: number): Promise<MemberView[]> {
    const known = this.requests.get(number);
    if (known) return known;
    const { generation } = this;
    const request = this.read(number * PAGE_SIZE, PAGE_SIZE).then(
      (page) => {
        if (generation === this.generation) this.store(number, page);
        return page.items;
      },
      (problem: unknown) => {
        if (generation === this.generation) {
          this.requests.delete(number);
          this.error = ApiError.from(problem);
          this.changed();
        }
        throw problem;
      },
    );
    this.requests.set(number, request);
    return request;
  }

  private store(number: number, page: MemberPage): void {
    if (this.shown !== this.generation) this.pages.clear();
    this.shown = this.generation;
    this.pages.set(number, page.items);
    this.group = page.group;
    this.error = null;
    this.changed();
  }
}

/** The members in an order, read again when the groups are updated. */
export function useMembers(
  client: Client,
  number: number,
  order: Order,
  snapshot: number | undefined,
): MemberPages {
  const [, render] = useState(0);
  const pages = useMemo(
    () =>
      new MemberPages(
        (offset, limit) =>
          client.get("/api/groups/{number}", { path: { number }, query: { order, offset, limit } }),
        () => render((n) => n + 1),
      ),
    [client, number, order],
  );
  useEffect(() => {
    pages.invalidate();
    pages.show(0, 1);
  }, [pages, snapshot]);
  return pages;
}
