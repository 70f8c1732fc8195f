/** Two orientations side by side: groups by groups, with the items of a cell on demand. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { Fault } from "../api";
import { percent } from "../charts/scale";
import type { Desk } from "../desk";
import { ItemView } from "../items/item";
import { Link } from "../parts/link";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { type Cell, type Comparison, ProgressApi, type Share } from "../progress-api";
import "../style/compare.css";

/** How dark a cell is, from 0 to 1: by its share of the smaller of its two groups. */
export function heat(n: number, row: Share, column: Share): number {
  return n === 0 ? 0 : n / Math.max(1, Math.min(row.size, column.size));
}

interface Place {
  row: Share;
  column: Share;
}

/** The other orientation is in the address too, so that a reload shows the same. */
function other(): string | null {
  return new URLSearchParams(location.search).get("with");
}

function remember(name: string): void {
  const query = new URLSearchParams(location.search);
  query.set("with", name);
  history.replaceState(null, "", `${location.pathname}?${query}`);
}

export function Compare({ desk }: { desk: Desk }) {
  const api = useMemo(() => new ProgressApi(desk.api), [desk.api]);
  const [chosen, setChosen] = useState(other);
  const [found, setFound] = useState<Comparison | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const [place, setPlace] = useState<Place | null>(null);
  const here = desk.about?.session ?? null;
  const names = (desk.about?.orientations ?? []).filter((name) => name !== here);
  const b = chosen !== null && names.includes(chosen) ? chosen : (names[0] ?? null);
  const snapshot = desk.now?.progress.snapshot;

  useEffect(() => {
    if (here === null || b === null) return;
    let wanted = true;
    setPlace(null);
    api.compare(here, b).then(
      (comparison) => {
        if (!wanted) return;
        setFound(comparison);
        setFault(null);
      },
      (problem: Fault) => wanted && setFault(problem),
    );
    return () => void (wanted = false);
  }, [api, here, b, snapshot]);

  return (
    <main class="compare">
      <p>
        <Link to="/orientations">← Orientations</Link>
      </p>
      <h1>Side by side</h1>
      {here !== null && b === null && (
        <p class="why">
          There is only one orientation so far. <Link to="/orientations">Begin another</Link> to
          compare them.
        </p>
      )}
      {b !== null && (
        <p class="compare-choice">
          <strong>{here}</strong> <span class="quiet-text">in rows, with</span>{" "}
          <select
            aria-label="The orientation to compare with"
            value={b}
            onChange={(event) => {
              setChosen(event.currentTarget.value);
              remember(event.currentTarget.value);
            }}
          >
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>{" "}
          <span class="quiet-text">in columns</span>
        </p>
      )}
      {fault && (
        <Notice tone="warning">
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      {found && b !== null && (
        <>
          <p class="why">
            {found.words} Agreement beyond chance: {percent(Math.max(0, found.agreement))}.
          </p>
          <Table found={found} place={place} choose={setPlace} />
          {place ? (
            <CellItems key={`${place.row.number} ${place.column.number}`} api={api} found={found} place={place} />
          ) : (
            <p class="quiet-text">Choose a number to see its items.</p>
          )}
        </>
      )}
    </main>
  );
}

interface TableProps {
  found: Comparison;
  place: Place | null;
  choose: (place: Place) => void;
}

function Table({ found, place, choose }: TableProps) {
  return (
    <div class="crossing" role="region" aria-label="Groups by groups" tabIndex={0}>
      <table style={{ "--columns": found.b.groups.length }}>
        <thead>
          <tr>
            <th class="corner">
              <span class="corner-b">{found.b.name}</span>
              <span class="corner-a">{found.a.name}</span>
            </th>
            {found.b.groups.map((column) => (
              <th key={column.number} scope="col">
                <Standing group={column} />
                <span class="crossing-name">{column.name}</span>
                <span class="quiet-text">{column.size.toLocaleString("en")}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found.a.groups.map((row, i) => (
            <tr key={row.number}>
              <th scope="row">
                <span class="row-head">
                  <span class="crossing-words">
                    <span class="crossing-name">{row.name}</span>
                    <span class="quiet-text">{row.size.toLocaleString("en")}</span>
                  </span>
                  <Standing group={row} />
                </span>
              </th>
              {found.b.groups.map((column, j) => {
                const n = found.cells[i]?.[j] ?? 0;
                const chosen = place?.row.number === row.number && place.column.number === column.number;
                return (
                  <td key={column.number} style={{ "--heat": heat(n, row, column).toFixed(3) }}>
                    {n > 0 && (
                      <button
                        type="button"
                        aria-pressed={chosen}
                        aria-label={`${count(n, "item")} in ${row.name} and ${column.name}`}
                        onClick={() => choose({ row, column })}
                      >
                        {n.toLocaleString("en")}
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

/** A few items that stand for a group. */
function Standing({ group }: { group: Share }) {
  return (
    <span class="standing" aria-hidden="true">
      {group.shown.map((item) => (
        <ItemView key={item.id} item={item} size="small" />
      ))}
    </span>
  );
}

interface CellProps {
  api: ProgressApi;
  found: Comparison;
  place: Place;
}

function CellItems({ api, found, place }: CellProps) {
  const [cell, setCell] = useState<Cell | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const load = (offset: number) => {
    const { row, column } = place;
    api.cell(found.a.name, found.b.name, row.number, column.number, offset).then(
      (page) => {
        setCell((before) => ({ ...page, items: [...(offset ? (before?.items ?? []) : []), ...page.items] }));
        setFault(null);
      },
      (problem: Fault) => setFault(problem),
    );
  };
  useEffect(() => load(0), []);
  return (
    <section class="cell" aria-live="polite">
      <h2>
        {place.row.name} <span class="quiet-text">({found.a.name})</span> and {place.column.name}{" "}
        <span class="quiet-text">({found.b.name})</span>
        {cell && `: ${count(cell.total, "item")}`}
      </h2>
      {fault && (
        <Notice tone="warning">
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      <div class="cell-items">
        {cell?.items.map((item) => (
          <ItemView key={item.id} item={item} size="small" />
        ))}
      </div>
      {cell && cell.items.length < cell.total && (
        <button type="button" onClick={() => load(cell.items.length)}>
          Show more ({cell.total - cell.items.length} left)
        </button>
      )}
    </section>
  );
}
