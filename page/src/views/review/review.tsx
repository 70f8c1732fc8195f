/** What is left to look at, one group at a time: confirm all, or tap those that are wrong. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { BatchView, ReviewView } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { Item } from "../../components/item";
import { Keys } from "../../components/keys";
import { Link } from "../../components/link";
import { Swatch } from "../../components/swatch";
import { count, fileName } from "../../format";
import { isHandledByControl, isPlainPress, useKeys } from "../../keyboard/keys";
import { useActs } from "../../workspace/use-acts";
import type { Workspace } from "../../workspace/use-workspace";
import "./review.css";

export function ReviewPage({ workspace }: { workspace: Workspace }) {
  const { client, now, recent } = workspace;
  const acts = useActs(workspace);
  const review = useResource((signal) => client.get("/api/review", { signal }), [client], {
    refreshOn: [now?.progress.snapshot, recent],
  });
  const { headline, batch = null, contradictions = 0, answers = 0 } = review.data ?? {};
  const [wrong, setWrong] = useState<ReadonlySet<number>>(new Set());
  const key = batch?.items.map(({ position }) => position).join(" ");
  useEffect(() => setWrong(new Set()), [key]);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // Return confirms, also right after a click on the link to this view, which has the focus then.
    if (document.activeElement?.closest("nav")) button.current?.focus({ preventScroll: true });
  }, [key]);

  const toggle = (position: number) => {
    const marked = new Set(wrong);
    if (!marked.delete(position)) marked.add(position);
    setWrong(marked);
  };
  const confirm = async () => {
    if (batch === null) return;
    const positions = (list: BatchView["items"]) => list.map(({ position }) => position);
    const { group } = batch;
    const body = { group, exemplars: positions(batch.exemplars), items: positions(batch.items), wrong: [...wrong] };
    if (await acts.perform(() => client.post("/api/review", { body }))) review.reload();
  };
  useKeys((event) => {
    if (event.key !== "Enter" || !isPlainPress(event) || isHandledByControl(event.target, event.key)) return;
    event.preventDefault();
    void confirm();
  });

  return (
    <main class="review">
      <h1>Review</h1>
      <ErrorNotice error={review.error} retry={review.reload} />
      {headline && <p class="verdict">{headline}</p>}
      {(contradictions > 0 || answers > 0) && (
        <p class="review-answers">
          {contradictions > 0 && `${count(contradictions, "answer contradicts", "answers contradict")} earlier ones. `}
          {answers > 0 && `${count(answers, "answer is", "answers are")} worth another look. `}
          <Link to="/conflicts" className="button">
            Look at {contradictions + answers === 1 ? "it" : "them"}
          </Link>
        </p>
      )}
      {batch && (
        <section class="review-batch" aria-labelledby="review-title">
          <div class="review-head">
            <h2 id="review-title">
              <Swatch slot={batch.place} /> Are these {batch.name}?
            </h2>
            <div class="review-exemplars" aria-label={`Examples of ${batch.name}`} role="group">
              {batch.exemplars.map((item) => (
                <Item key={item.id} item={item} size="small" />
              ))}
            </div>
          </div>
          <p class="hint">Most doubtful first. Tap those that are wrong.</p>
          <ul class="review-grid">
            {batch.items.map((item) => (
              <li key={item.id}>
                <button
                  type="button"
                  class={wrong.has(item.position) ? "review-item wrong" : "review-item"}
                  aria-pressed={wrong.has(item.position)}
                  aria-label={`${item.id}${wrong.has(item.position) ? ", wrong" : ""}`}
                  onClick={() => toggle(item.position)}
                >
                  <Item item={item} size="medium" />
                  <span class="caption">{wrong.has(item.position) ? "Wrong" : fileName(item.id)}</span>
                </button>
              </li>
            ))}
          </ul>
          <div class="form-actions">
            <button
              ref={button}
              type="button"
              class="primary"
              disabled={acts.busy}
              aria-keyshortcuts="Enter"
              onClick={() => void confirm()}
            >
              <span class="by-key">
                <Keys keys={["Enter"]} />{" "}
              </span>
              {wrong.size === 0 ? "All of these are right" : `${count(wrong.size, "is", "are")} wrong, the rest is right`}
            </button>
          </div>
        </section>
      )}
      {review.data && !batch && <NothingListed done={review.data.done} items={review.data.items} />}
    </main>
  );
}

/** What to do where no items are listed. `items`: how many are left; `null`: not known yet. */
export function NothingListed({ done, items }: Pick<ReviewView, "done" | "items">) {
  return (
    <section class="review-done" aria-live="polite">
      {done && <h2>Done</h2>}
      <p>
        {done
          ? "Export your groups, or answer more questions to make them better."
          : items === null
            ? "Once you have placed a few more items, the doubtful ones are listed here."
            : items > 0
              ? "The doubtful items are alone in their groups. Questions show them beside others."
              : "Once those answers are settled, the review is done."}
      </p>
      <p class="form-actions">
        {done && (
          <Link to="/finish" className="button primary">
            Export
          </Link>
        )}
        <Link to="/" className="button">
          Answer questions
        </Link>
      </p>
    </section>
  );
}
