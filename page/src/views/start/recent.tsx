/** Collections that were opened before. */

import type { RecentView } from "../../api/schema";
import { ago, countItems } from "../../format";

interface Props {
  recent: RecentView[];
  open: (pile: string) => void;
  remove: (pile: string) => void;
}

export function RecentCollections({ recent, open, remove }: Props) {
  if (recent.length === 0) return null;
  return (
    <section class="recent" aria-labelledby="recent-title">
      <h2 id="recent-title">Recent</h2>
      <ul>
        {recent.map(({ pile, name, path, kind, items, at, finished, thumbnails = [] }) => (
          <li key={pile}>
            <button
              type="button"
              class={thumbnails.length > 0 ? "collection-card pictured" : "collection-card"}
              onClick={() => open(pile)}
            >
              {thumbnails.length > 0 && (
                <span class="thumbnails">
                  {thumbnails.map((address) => (
                    <img key={address} src={address} alt="" loading="lazy" />
                  ))}
                </span>
              )}
              <span class="collection-words">
                <span class="collection-name">{name}</span>
                <span class="muted">
                  {countItems(items, kind)} · {ago(at)}
                  {!finished && " · not ready yet"}
                </span>
                {path !== name && <span class="collection-path">{path}</span>}
              </span>
            </button>
            <button
              type="button"
              class="quiet"
              onClick={() => remove(pile)}
              aria-label={`Remove ${name} from this list`}
              title="Remove from this list. Your answers are kept."
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
