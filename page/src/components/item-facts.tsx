/** What is known about an item besides its content: when and where a photo was taken. */

import { server } from "../api/client";
import type { ItemView } from "../api/schema";
import { useResource } from "../api/use-resource";
import "./item-facts.css";

/** Near-duplicates that are shown beside the first one. */
const MAX_MEMBERS = 8;

export function ItemFacts({ item }: { item: ItemView }) {
  const { data } = useResource(
    item.kind === "image"
      ? (signal) => server.get("/api/items/{id}/details", { path: { id: item.id }, signal })
      : null,
    [item.id],
  );
  if (!data || data.facts.length === 0) return null;
  return (
    <dl class="item-facts">
      {data.members.length > 0 && (
        <div class="item-members">
          {data.members.slice(0, MAX_MEMBERS).map((member) => (
            <img key={member.id} src={member.preview ?? ""} alt={member.id} />
          ))}
        </div>
      )}
      {data.facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
