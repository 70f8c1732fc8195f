/** Two groupings side by side: groups against groups, with the items of a cell on demand. */

import { useEffect, useState } from "preact/hooks";
import type { Client } from "../../api/client";
import type { ComparedGroup, Comparison } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { Item } from "../../components/item";
import { Link } from "../../components/link";
import { count, number, percent } from "../../format";
import type { Workspace } from "../../workspace/use-workspace";
import "./compare.css";

const CELL_PAGE_SIZE = 24;

/** How dark a cell is, from 0 to 1: by its share of the smaller of its two groups. */
export function heat(n: number, row: ComparedGroup, column: ComparedGroup): number {
  return n === 0 ? 0 : n / Math.max(1, Math.min(row.size, column.size));
}

/** Whether the items of a cell are exceptions: outside the group in which most of their finer group lies. */
export function isOutside({ cells, nesting }: Comparison, i: number, j: number): boolean {
  const n = cells[i]?.[j] ?? 0;
  if (nesting === null || n === 0) return false;
  const others = nesting.inner === "a" ? (cells[i] ?? []) : cells.map((row) => row[j] ?? 0);
  return n < Math.max(...others);
}

interface CellPosition {
  row: ComparedGroup;
  column: ComparedGroup;
}

/** The other grouping is part of the address, so that a reload shows the same. */
function otherInAddress(): string | null {
  return new URLSearchParams(location.search).get("with");
}

function putInAddress(name: string): void {
  const query = new URLSearchParams(location.search);
  query.set("with", name);
  history.replaceState(null, "", `${location.pathname}?${query}`);
}

export function ComparePage({ workspace }: { workspace: Workspace }) {
  const { client, session, now } = workspace;
  const [chosen, setChosen] = useState(otherInAddress);
  const [cell, setCell] = useState<CellPosition | null>(null);
  const a = session?.session ?? null;
  const others = (session?.orientations ?? []).filter((name) => name !== a);
  const b = chosen !== null && others.includes(chosen) ? chosen : (others[0] ?? null);
  const snapshot = now?.progress.snapshot;
  const { data, error, reload } = useResource(
    a !== null && b !== null ? (signal) => client.get("/api/compare", { query: { a, b }, signal }) : null,
    [client, a, b],
    { refreshOn: [snapshot] },
  );
  useEffect(() => setCell(null), [a, b, snapshot]);

  return (
    <main class="compare">
      <p class="back">
        <Link to="/groupings">← Groupings</Link>
      </p>
      <h1>Compare groupings</h1>
      {a !== null && b === null && (
        <p class="lead">
          There is only one grouping so far. <Link to="/groupings">Create another</Link> to compare them.
        </p>
      )}
      {b !== null && (
        <p class="compare-choice">
          <strong>{session?.titles[a ?? ""] ?? a}</strong> <span class="muted">(rows) with</span>{" "}
          <select
            aria-label="Grouping to compare with"
            value={b}
            onChange={(event) => {
              setChosen(event.currentTarget.value);
              putInAddress(event.currentTarget.value);
            }}
          >
            {others.map((name) => (
              <option key={name} value={name}>
                {session?.titles[name] ?? name}
              </option>
            ))}
          </select>{" "}
          <span class="muted">(columns)</span>
        </p>
      )}
      <ErrorNotice error={error} retry={reload} />
      {data && (
        <>
          <p class="lead">
            {data.words}{" "}
            {data.nesting === null && `Agreement beyond chance: ${percent(Math.max(0, data.agreement))}.`}
          </p>
          <Table comparison={data} cell={cell} choose={setCell} />
          {cell ? (
            <CellItems client={client} comparison={data} cell={cell} />
          ) : (
            <p class="muted">
              Select a number to see its items.
              {data.nesting !== null && data.nesting.outside > 0 && " A dashed frame marks the exceptions."}
            </p>
          )}
        </>
      )}
    </main>
  );
}

interface TableProps {
  comparison: Comparison;
  cell: CellPosition | null;
  choose: (cell: CellPosition) => void;
}

function Table({ comparison, cell, choose }: TableProps) {
  const { a, b, cells } = comparison;
  return (
    <div class="crosstab" role="region" aria-label="Groups against groups" tabIndex={0}>
      <table style={{ "--columns": b.groups.length }}>
        <thead>
          <tr>
            <th class="corner">
              <span class="corner-b">{b.title}</span>
              <span class="corner-a">{a.title}</span>
            </th>
            {b.groups.map((column) => (
              <th key={column.number} scope="col">
                <Thumbnails group={column} />
                <span class="crosstab-name">{column.name}</span>
                <span class="muted">{number(column.size)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {a.groups.map((row, i) => (
            <tr key={row.number}>
              <th scope="row">
                <span class="row-head">
                  <span class="row-label">
                    <span class="crosstab-name">{row.name}</span>
                    <span class="muted">{number(row.size)}</span>
                  </span>
                  <Thumbnails group={row} />
                </span>
              </th>
              {b.groups.map((column, j) => {
                const n = cells[i]?.[j] ?? 0;
                const chosen = cell?.row.number === row.number && cell.column.number === column.number;
                return (
                  <td key={column.number} style={{ "--heat": heat(n, row, column).toFixed(3) }}>
                    {n > 0 && (
                      <button
                        type="button"
                        class={isOutside(comparison, i, j) ? "outside" : ""}
                        aria-pressed={chosen}
                        aria-label={`${count(n, "item")} in ${row.name} and ${column.name}${isOutside(comparison, i, j) ? ", exceptions" : ""}`}
                        onClick={() => choose({ row, column })}
                      >
                        {number(n)}
                      </button>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Thumbnails({ group }: { group: ComparedGroup }) {
  return (
    <span class="thumbnails" aria-hidden="true">
      {group.shown.map((item) => (
        <Item key={item.id} item={item} size="small" />
      ))}
    </span>
  );
}

interface CellProps {
  client: Client;
  comparison: Comparison;
  cell: CellPosition;
}

function CellItems({ client, comparison: { a, b }, cell: { row, column } }: CellProps) {
  const [pages, setPages] = useState(1);
  const { data, error, reload } = useResource(
    async (signal) => {
      const offsets = Array.from({ length: pages }, (_, k) => k * CELL_PAGE_SIZE);
      const groups = { a: a.name, b: b.name, row: row.number, column: column.number };
      const parts = await Promise.all(
        offsets.map((offset) =>
          client.get("/api/compare/cell", { query: { ...groups, offset, limit: CELL_PAGE_SIZE }, signal }),
        ),
      );
      return { total: parts.at(-1)?.total ?? 0, items: parts.flatMap((part) => part.items) };
    },
    [client, a.name, b.name, row.number, column.number],
    { refreshOn: [pages] },
  );
  return (
    <section class="cell" aria-live="polite">
      <h2>
        {row.name} <span class="muted">({a.title})</span> and {column.name}{" "}
        <span class="muted">({b.title})</span>
        {data && `: ${count(data.total, "item")}`}
      </h2>
      <ErrorNotice error={error} retry={reload} />
      <div class="cell-items">
        {data?.items.map((item) => (
          <Item key={item.id} item={item} size="small" />
        ))}
      </div>
      {data && data.items.length < data.total && (
        <button type="button" onClick={() => setPages(pages + 1)}>
          Show more ({data.total - data.items.length} left)
        </button>
      )}
    </section>
  );
}
