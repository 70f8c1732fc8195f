/** Piles that were opened before. */

import type { RecentPile } from "../jobs-api";
import { ago, things } from "./words";

interface Props {
  piles: RecentPile[];
  open: (pile: string) => void;
  forget: (pile: string) => void;
}

export function RecentPiles({ piles, open, forget }: Props) {
  if (piles.length === 0) return null;
  return (
    <section class="recent" aria-labelledby="recent-title">
      <h2 id="recent-title">Go on with</h2>
      <ul>
        {piles.map((one) => (
          <li key={one.pile}>
            <button type="button" class="pile-card" onClick={() => open(one.pile)}>
              <span class="pile-name">{one.name}</span>
              <span class="quiet-text">
                {things(one.items, one.kind)} · {ago(one.at)}
                {!one.finished && " · not ready yet"}
              </span>
              <span class="pile-path">{one.path}</span>
            </button>
            <button
              type="button"
              class="quiet"
              onClick={() => forget(one.pile)}
              aria-label={`Take ${one.name} off this list`}
              title="Take it off this list; the answers are kept"
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
