/** A row of a table: its fields in aligned columns, with those marked in which the shown rows differ. */

import { type ComponentChildren, createContext } from "preact";
import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ItemView } from "../api/schema";
import { useResource } from "../api/use-resource";
import "./item-row.css";

export type Fields = [column: string, value: string][];

/** Height of a field in a list, and of a list that is worth it, in pixels. */
const FIELD_HEIGHT = 22;
const MIN_LIST_HEIGHT = 110;
const PHONE_WIDTH = 700;
/** Numbers that are closer than this share of the larger one do not count as different. */
const TOLERANCE = 0.05;
/** Rows that are compared with each other. */
const MAX_COMPARED = 16;

/** Read the lines `column: value` of a preview; a line without a colon continues the one before. */
export function parseFields(text: string): Fields {
  const fields: Fields = [];
  for (const line of text.split("\n")) {
    const end = line.indexOf(": ");
    const last = fields.at(-1);
    if (end > 0) fields.push([line.slice(0, end), line.slice(end + 2)]);
    else if (line.endsWith(":")) fields.push([line.slice(0, -1), ""]);
    else if (last) last[1] += ` ${line}`;
  }
  return fields;
}

function isDifferent(one: string | undefined, other: string | undefined): boolean {
  if (one === other) return false;
  const [a, b] = [Number(one), Number(other)];
  if (!one?.trim() || !other?.trim() || Number.isNaN(a) || Number.isNaN(b)) return true;
  return Math.abs(a - b) > TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

/** The columns in which a row differs from the first one, and the first one from all others. */
export function differing(own: Fields, id: string, rows: ReadonlyMap<string, Fields>): Set<string> {
  const [first, ...rest] = [...rows];
  if (first === undefined) return new Set();
  const others = id === first[0] ? rest.map(([, fields]) => fields) : [first[1]];
  const maps = others.map((fields) => new Map(fields));
  const found = own.filter(([column, value]) => maps.every((row) => isDifferent(value, row.get(column))));
  return new Set(others.length === 0 ? [] : found.map(([column]) => column));
}

const Compared = createContext<ReadonlyMap<string, Fields>>(new Map());

/** Compares the rows among some items with each other, wherever they are shown inside. */
export function ComparedRows({ items, children }: { items: ItemView[]; children: ComponentChildren }) {
  const rows = items.filter((item) => item.kind === "row" && item.preview !== null).slice(0, MAX_COMPARED);
  const { data } = useResource(
    rows.length < 2
      ? null
      : async (signal) => {
          const texts = rows.map(async (row): Promise<[string, Fields]> => {
            const reply = await fetch(row.preview ?? "", { signal });
            const isText = reply.headers.get("content-type")?.startsWith("text/plain") ?? false;
            return [row.id, isText ? parseFields(await reply.text()) : []];
          });
          return new Map(await Promise.all(texts));
        },
    [rows.map((row) => row.id).join("\n")],
  );
  return <Compared.Provider value={data ?? new Map()}>{children}</Compared.Provider>;
}

interface Props {
  item: ItemView;
  text: string;
  size: "large" | "medium" | "small";
}

/**
 * In a high card the fields are a list, in a low one cells side by side, which are aligned with those
 * of the cards below. All cards of a question show the fields first in which its rows differ.
 */
export function RowFields({ item, text, size }: Props) {
  const rows = useContext(Compared);
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(0); // fields that a list has room for; 0: cells
  useLayoutEffect(() => {
    const card = box.current?.closest(".item");
    if (!card) return;
    const measure = () => {
      const height = size === "large" && innerWidth > PHONE_WIDTH ? innerHeight : card.clientHeight;
      setRoom(height >= (size === "large" ? FIELD_HEIGHT * 8 : MIN_LIST_HEIGHT) ? Math.floor(height / FIELD_HEIGHT) - 1 : 0);
    };
    measure();
    if (typeof ResizeObserver === "undefined") return;
    const watch = new ResizeObserver(measure);
    watch.observe(card);
    return () => watch.disconnect();
  }, [size]);
  const fields = parseFields(text);
  const marked = differing(fields, item.id, rows);
  const interesting = new Set([...rows].flatMap(([id, row]) => [...differing(row, id, rows)]));
  const isFirst = ([column]: Fields[number]) => interesting.has(column);
  const ordered = [...fields.filter(isFirst), ...fields.filter((field) => !isFirst(field))];
  const isList = room > 0;
  const shown = isList && size !== "large" ? ordered.slice(0, room) : ordered;
  const left = fields.length - shown.length;
  return (
    <div
      ref={box}
      class={`text-preview row-fields ${isList ? "as-list" : "as-cells"}`}
      {...(size !== "large" && { "data-full": text })}
    >
      <dl>
        {shown.map(([column, value]) => (
          <div key={column} class={marked.has(column) ? "different" : ""}>
            <dt>{column}</dt>
            <dd>{value || "–"}</dd>
          </div>
        ))}
      </dl>
      {left > 0 && <p class="muted">+{left} more</p>}
    </div>
  );
}
