/** Groups after polishing beside those of now: agreement, what moves where, some of what moves. */

import { ItemView } from "../items/item";
import type { Agreement, PolishResult } from "../jobs-api";
import { count } from "../parts/progress";

/** Groups of which the table has room for. */
const MOST = 12;

function Share({ label, found }: { label: string; found: Agreement | null }) {
  if (found === null) return null;
  const percent = Math.round((100 * found.agreed) / found.of);
  return (
    <div class="share">
      <span class="share-label">{label}</span>
      <strong>{percent} %</strong>
      <span class="share-bar" aria-hidden="true">
        <svg viewBox="0 0 100 6" preserveAspectRatio="none">
          <rect class="share-band" x={100 * found.low} width={100 * (found.high - found.low)} height="6" />
          <rect class="share-mark" x={Math.min(99, percent)} width="1" height="6" />
        </svg>
      </span>
      <span class="quiet-text">
        {found.agreed} of {found.of}; probably between {Math.floor(100 * found.low)} and{" "}
        {Math.ceil(100 * found.high)} %
      </span>
    </div>
  );
}

export function Comparison({ result }: { result: PolishResult }) {
  const rows = result.groups_before.slice(0, MOST);
  const columns = result.groups_after.slice(0, MOST);
  const cell = new Map(result.flows.map((one) => [`${one.before} ${one.after}`, one.items]));
  return (
    <div class="comparison">
      <p class="verdict">
        <strong>{result.verdict}</strong>
      </p>
      <div class="shares">
        <Share label="Groups of now" found={result.before} />
        <Share label="Polished" found={result.after} />
      </div>
      <p class="quiet-text">
        Agreement with {result.kept_aside}, which neither was taught. {count(result.changed, "item")}{" "}
        of {result.items.toLocaleString("en")} would change the group.
      </p>
      <div class="flow-scroll">
        <table class="flows">
          <caption>Groups of now (rows) and polished (columns)</caption>
          <thead>
            <tr>
              <td />
              {columns.map((group) => (
                <th key={group.number} scope="col">
                  {group.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((before) => (
              <tr key={before.number}>
                <th scope="row">{before.name}</th>
                {columns.map((after) => {
                  const items = cell.get(`${before.number} ${after.number}`) ?? 0;
                  const part = Math.ceil((4 * items) / Math.max(1, before.size));
                  return (
                    <td key={after.number} class={`part-${part}`}>
                      {items ? items.toLocaleString("en") : ""}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {result.groups_before.length > MOST && (
        <p class="quiet-text">
          {count(result.groups_before.length - MOST, "smaller group is", "smaller groups are")} not in
          this table.
        </p>
      )}
      {result.moved.length > 0 && (
        <>
          <h4>Some that would move</h4>
          <div class="moved">
            {result.moved.map((one) => (
              <figure key={one.item.id}>
                <ItemView item={one.item} size="small" />
                <figcaption>
                  {one.before} → {one.after}
                </figcaption>
              </figure>
            ))}
          </div>
        </>
      )}
    </div>
  );
}
