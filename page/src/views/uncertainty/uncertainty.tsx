/** What is still uncertain: the number of groups, pairs to decide, other plausible groupings. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { UncertainPairView } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { Link } from "../../components/link";
import { Toast } from "../../components/toast";
import { useActs } from "../../workspace/use-acts";
import type { Workspace } from "../../workspace/use-workspace";
import { Alternatives } from "./alternatives";
import { CountChart } from "./count-chart";
import { PairList } from "./pair-list";
import "./uncertainty.css";

/** The part of the address that leads to the other groupings. */
export const GROUPINGS_HASH = "#groupings";

export function UncertaintyPage({ workspace }: { workspace: Workspace }) {
  const { client, now } = workspace;
  const { answers, snapshot } = now?.progress ?? {};
  const acts = useActs(workspace);
  const [showing, setShowing] = useState(location.hash === GROUPINGS_HASH);
  const heading = useRef<HTMLHeadingElement>(null);
  const report = useResource((signal) => client.get("/api/posterior", { signal }), [client], {
    refreshOn: [answers, snapshot],
  });
  const others = useResource(
    showing ? (signal) => client.get("/api/posterior/alternatives", { signal }) : null,
    [client, showing],
    { refreshOn: [answers, snapshot] },
  );
  const found = report.data?.posterior ?? null;
  useEffect(() => {
    if (found !== null && location.hash === GROUPINGS_HASH) heading.current?.scrollIntoView();
  }, [found !== null]);

  const answer = (pair: UncertainPairView, choice: string) =>
    acts.perform(() =>
      client.post("/api/posterior/answers", { body: { items: pair.positions, choice } }),
    );
  const close = () => {
    setShowing(false);
    heading.current?.focus({ preventScroll: true }); // the button that was pressed is gone
  };
  const choose = async (kinds: number[][]) => {
    const chosen = await acts.perform((_, aside) =>
      client.post("/api/acts/kinds", { body: { kinds, ...aside } }),
    );
    if (chosen) close();
  };

  return (
    <main class="uncertainty">
      <h1>What is still uncertain</h1>
      <ErrorNotice error={report.error ?? others.error} retry={report.reload} />
      {report.data && !found && (
        <p class="lead">
          The method of this session gives one grouping and does not say how sure it is. Methods that do:{" "}
          <code>samekind serve PATH --method ncp</code>. <Link to="/">Back to the questions</Link>
        </p>
      )}
      {found && (
        <>
          <p class="lead">
            Many plausible groupings were drawn. Where they agree, the groups are sure. {found.basis}
          </p>
          <section class="panel count-panel" aria-labelledby="count-head">
            <div>
              <h2 id="count-head">How many groups?</h2>
              <p class="count-words" role="status">
                {found.words}
              </p>
            </div>
            <CountChart counts={found.counts} current={found.groups} />
          </section>
          <section aria-labelledby="pairs-head">
            <h2 id="pairs-head">Uncertain pairs</h2>
            <p class="hint">
              {found.pairs.length > 0
                ? "Are these two the same kind? Each answer settles something that the others do not."
                : "The plausible groupings agree about all pairs that you have not decided yet."}
            </p>
            <PairList pairs={found.pairs} busy={acts.busy} answer={answer} />
          </section>
          <section aria-labelledby="groupings-head">
            <h2 id="groupings-head" ref={heading} tabIndex={-1}>
              Other plausible groupings
            </h2>
            {showing ? (
              <Alternatives
                found={others.data?.alternatives ?? null}
                groups={found.groups}
                busy={acts.busy}
                answer={answer}
                choose={(kinds) => void choose(kinds)}
                close={close}
              />
            ) : (
              <p class="hint">
                See what else would fit your answers, and what would change. Looking changes nothing.
                <button type="button" class="show-another" onClick={() => setShowing(true)}>
                  Show me another plausible grouping
                </button>
              </p>
            )}
          </section>
        </>
      )}
      <Toast acts={acts} />
    </main>
  );
}
