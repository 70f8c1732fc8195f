/** Polished groups beside the current ones: agreement, what moves where, some items that move. */

import type { Agreement, PolishResult } from "../../api/schema";
import { Item } from "../../components/item";
import { count, number } from "../../format";

const MAX_GROUPS = 12;
/** Shades of a cell in the table, by its share of the row. */
const SHADES = 4;

function AgreementBar({ label, agreement }: { label: string; agreement: Agreement | null }) {
  if (agreement === null) return null;
  const { agreed, of, low, high } = agreement;
  const percent = Math.round((100 * agreed) / of);
  return (
    <div class="agreement">
      <span>{label}</span>
      <strong>{percent}%</strong>
      <span class="agreement-bar" aria-hidden="true">
        <svg viewBox="0 0 100 6" preserveAspectRatio="none">
          <rect class="agreement-band" x={100 * low} width={100 * (high - low)} height="6" />
          <rect class="agreement-mark" x={Math.min(99, percent)} width="1" height="6" />
        </svg>
      </span>
      <span class="muted">
        {agreed} of {of}, probably {Math.floor(100 * low)}–{Math.ceil(100 * high)}%
      </span>
    </div>
  );
}

export function PolishComparison({ result }: { result: PolishResult }) {
  const hidden = result.groups_before.length - MAX_GROUPS;
  return (
    <div class="polish-comparison">
      <p>
        <strong>{result.verdict}</strong>
      </p>
      <div class="agreements">
        <AgreementBar label="Current groups" agreement={result.before} />
        <AgreementBar label="Polished" agreement={result.after} />
      </div>
      <p class="muted">
        Trained by {result.learner}. Measured on {result.kept_aside}, which neither was trained on. {number(result.changed)} of{" "}
        {count(result.items, "item")} would change groups.
      </p>
      <FlowTable result={result} />
      {hidden > 0 && (
        <p class="muted">{count(hidden, "smaller group is", "smaller groups are")} not shown.</p>
      )}
      {result.moved.length > 0 && (
        <>
          <h4>Some items that would move</h4>
          <div class="moved">
            {result.moved.map(({ item, before, after }) => (
              <figure key={item.id}>
                <Item item={item} size="small" />
                <figcaption>
                  {before} → {after}
                </figcaption>
              </figure>
            ))}
          </div>
        </>
      )}
    </div>
  );
}

function FlowTable({ result }: { result: PolishResult }) {
  const rows = result.groups_before.slice(0, MAX_GROUPS);
  const columns = result.groups_after.slice(0, MAX_GROUPS);
  const flows = new Map(result.flows.map(({ before, after, items }) => [`${before} ${after}`, items]));
  return (
    <div class="flow-scroll">
      <table class="flows">
        <caption>Current groups (rows) and polished groups (columns)</caption>
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
                const items = flows.get(`${before.number} ${after.number}`) ?? 0;
                const shade = Math.ceil((SHADES * items) / Math.max(1, before.size));
                return (
                  <td key={after.number} class={`shade-${shade}`}>
                    {items ? number(items) : ""}
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
