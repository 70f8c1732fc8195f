/** One item as a person sees it. The MIME type of its preview decides how it is shown. */

import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { ItemView } from "../api/schema";
import { useResource } from "../api/use-resource";
import { CardText } from "./item-text";
import { RowFields } from "./item-row";
import { rememberItem } from "./item-menu/open-menu";
import { holdToZoom } from "./zoom";
import "./item.css";

/** Pictures up to this width are enlarged with sharp pixels instead of a blur. */
const MAX_PIXELATED_WIDTH = 64;

interface ItemProps {
  item: ItemView;
  size: "large" | "medium" | "small";
}

/** Renderers by the beginning of the MIME type; the last one matches everything. */
const RENDERERS: [string, (props: ItemProps) => ComponentChild][] = [
  ["image/", ({ item }) => <Picture item={item} />],
  ["text/plain", (props) => <Text {...props} />],
  ["", ({ item }) => <NoPreview item={item} why="No preview" />],
];

function Picture({ item }: { item: ItemView }) {
  const [failed, setFailed] = useState(false);
  if (failed) return <NoPreview item={item} why="Cannot be read" />;
  return (
    <img
      src={item.preview ?? ""}
      alt={item.id}
      draggable={false}
      decoding="async"
      onError={() => setFailed(true)}
      onLoad={({ currentTarget: image }) => {
        image.classList.toggle("pixelated", image.naturalWidth <= MAX_PIXELATED_WIDTH);
      }}
    />
  );
}

async function fetchPreview(url: string, signal: AbortSignal): Promise<Response> {
  const reply = await fetch(url, { signal });
  if (!reply.ok) throw new Error(reply.statusText);
  return reply;
}

function Text({ item, size }: ItemProps) {
  const url = item.preview ?? "";
  const { data, error } = useResource(async (signal) => (await fetchPreview(url, signal)).text(), [url]);
  if (error) return <NoPreview item={item} why="Cannot be read" />;
  if (data !== null && item.kind === "row") return <RowFields item={item} text={data} size={size} />;
  return size === "large" ? <div class="text-preview">{data ?? "…"}</div> : <CardText text={data ?? "…"} />;
}

function NoPreview({ item, why }: { item: ItemView; why: string }) {
  return (
    <div class="no-preview">
      <strong>{item.id}</strong>
      <span>{why}</span>
    </div>
  );
}

/** The MIME type of a preview: given by the kind of item, otherwise by the server. */
function useMime({ kind, preview }: ItemView): string | null {
  const known = kind === "image" ? "image/" : kind === "text" ? "text/plain" : null;
  const unknown = known === null && preview !== null;
  const { data, error } = useResource(
    unknown
      ? async (signal) => (await fetchPreview(preview, signal)).headers.get("content-type") ?? ""
      : null,
    [preview],
  );
  return known ?? (error ? "" : data);
}

export function Item({ item, size }: ItemProps) {
  const mime = useMime(item);
  let content: ComponentChild = null;
  if (item.preview === null) content = <NoPreview item={item} why="No longer in the collection" />;
  else if (mime !== null) content = RENDERERS.find(([start]) => mime.startsWith(start))?.[1]({ item, size });
  return (
    <div
      ref={(element) => rememberItem(element, item)}
      class={`item ${size}`}
      title={item.id}
      {...holdToZoom(item)}
    >
      {content}
    </div>
  );
}
