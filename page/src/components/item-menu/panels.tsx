/** What the menu of an item opens: the item at full resolution, similar items, the reason for its group. */

import { useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import type { ItemPlace, ItemView, LocatedItem } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { currentRoute, navigate } from "../../router";
import type { Workspace } from "../../workspace/use-workspace";
import { Dialog } from "../dialog";
import { ErrorNotice } from "../error-notice";
import { Item } from "../item";
import { Link } from "../link";
import { Swatch } from "../swatch";

interface ItemProps {
  item: ItemView;
  close: () => void;
}

/** The address of an item at full resolution, beside that of its preview. */
export function fullUrl(preview: string): string {
  return preview.replace(/\/preview(?=\?|$)/, "/full");
}

/** At first as large as the screen; a click shows every pixel, another one goes back. */
export function FullSize({ item, close }: ItemProps) {
  const [actual, setActual] = useState(false);
  const picture = item.kind === "image" && item.preview !== null;
  return (
    <Dialog title={item.id} close={close} wide>
      {picture && item.preview ? (
        <button
          type="button"
          class={actual ? "full-size actual" : "full-size"}
          aria-label={actual ? "Fit to the screen" : "Show every pixel"}
          onClick={() => setActual(!actual)}
        >
          <img src={fullUrl(item.preview)} alt={item.id} />
        </button>
      ) : (
        <div class="full-size">
          <Item item={item} size="large" />
        </div>
      )}
    </Dialog>
  );
}

function Located({ items }: { items: readonly LocatedItem[] }) {
  return (
    <ul class="located-items">
      {items.map((item) => (
        <li key={item.id}>
          <Item item={item} size="medium" />
          <span>
            {item.place !== null && <Swatch slot={item.place} />} {item.name}
            {item.answered && <span title="Answered"> ✓</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

export function Similar({ workspace, item, close }: ItemProps & { workspace: Workspace }) {
  const { client } = workspace;
  const [problem, setProblem] = useState<ApiError | null>(null);
  const path = { id: item.id };
  const found = useResource((signal) => client.get("/api/items/{id}/similar", { path, signal }), [client, item.id]);
  const ask = async () => {
    try {
      const { item: here } = await client.get("/api/items/{id}/place", { path });
      await client.post("/api/acts/like", { body: { items: [here.position] } });
      workspace.refresh();
      close();
      navigate({ ...currentRoute(), path: "/" });
    } catch (error) {
      setProblem(ApiError.from(error));
    }
  };
  return (
    <Dialog title={`Similar to ${item.id}`} close={close}>
      <ErrorNotice error={problem ?? found.error} />
      {found.data && <Located items={found.data.items} />}
      <div class="form-actions">
        <button type="button" class="primary" onClick={() => void ask()}>
          Find more like this
        </button>
      </div>
    </Dialog>
  );
}

export function Why({ place, close }: { place: ItemPlace; close: () => void }) {
  return (
    <Dialog title={`Why is it in ${place.name}?`} close={close}>
      <div class="why-here">
        <Item item={place.item} size="medium" />
        <p>
          {place.words} {place.answer !== null && <Link to="/answers">See your answers</Link>}
        </p>
      </div>
      {place.examples.length > 0 && (
        <>
          <h3>The most similar items with an answer</h3>
          <Located items={place.examples} />
        </>
      )}
    </Dialog>
  );
}
