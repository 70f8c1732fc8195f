/** Other plausible groupings, one at a time: what would change, and how to get there. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { AlternativeView, ChangeView, UncertainPairView } from "../../api/schema";
import { Item } from "../../components/item";
import { count, percent } from "../../format";
import { PairList } from "./pair-list";

interface Props {
  /** `null` while they are loaded. */
  found: AlternativeView[] | null;
  /** The number of groups at present. */
  groups: number;
  busy: boolean;
  answer: (pair: UncertainPairView, choice: string) => Promise<boolean>;
  choose: (kinds: number[][]) => void;
  close: () => void;
}

/** "3 groups instead of 4", or "4 groups, as now". */
export function compareCounts(then: number, now: number): string {
  return then === now ? `${count(then, "group")}, as now` : `${count(then, "group")} instead of ${now}`;
}

export function Alternatives({ found, groups, busy, answer, choose, close }: Props) {
  const [place, setPlace] = useState(0);
  const title = useRef<HTMLHeadingElement>(null);
  const index = found && found.length > 0 ? place % found.length : 0;
  const shown = found?.[index];
  useEffect(() => title.current?.focus({ preventScroll: true }), [shown !== undefined, index]);
  if (found === null) return <p class="muted">Comparing groupings…</p>;
  if (!shown) {
    return (
      <p class="hint" role="status">
        No other grouping stands out: the plausible ones differ from the groups only in single items.
      </p>
    );
  }
  return (
    <div class="panel alternative">
      <h3 ref={title} tabIndex={-1}>
        Grouping {index + 1} of {found.length}: {compareCounts(shown.groups, groups)}
      </h3>
      <p class="muted">{percent(shown.share)} of the plausible groupings are most like this one.</p>
      <h4>What would change</h4>
      <ul class="changes">
        {shown.changes.map((change) => (
          <Change key={change.words} change={change} />
        ))}
      </ul>
      {shown.more > 0 && <p class="muted">And {count(shown.more, "item")} in smaller changes.</p>}
      <div class="alternative-actions">
        <button type="button" class="primary" disabled={busy} onClick={() => choose(shown.kinds)}>
          Use this one
        </button>
        {found.length > 1 && (
          <button type="button" onClick={() => setPlace(index + 1)}>
            Show the next one
          </button>
        )}
        <button type="button" class="quiet" onClick={close}>
          Back
        </button>
        <span class="muted">All your answers are kept, and you can undo it.</span>
      </div>
      {shown.pairs.length > 0 && (
        <>
          <h4>Not sure? {shown.pairs.length === 1 ? "This answer tells" : "These answers tell"} the two apart</h4>
          <PairList pairs={shown.pairs} busy={busy} answer={answer} />
        </>
      )}
    </div>
  );
}

function Change({ change: { words, count: total, items, target, target_items } }: { change: ChangeView }) {
  return (
    <li class="change">
      <p>{words}</p>
      <div class="change-items">
        <span class="moving-items">
          {items.map((item) => (
            <Item key={item.id} item={item} size="small" />
          ))}
          {total > items.length && <span class="muted">…</span>}
        </span>
        <span class="change-arrow" aria-hidden="true">
          →
        </span>
        {target === null ? (
          <span class="new-group">new group</span>
        ) : (
          <span class="target-items">
            {target_items.map((item) => (
              <Item key={item.id} item={item} size="small" />
            ))}
          </span>
        )}
      </div>
    </li>
  );
}
