/** One item as a person sees it: a renderer is chosen by the MIME type of its preview. */

import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Item } from "../api";
import { hold } from "./zoom";

interface Shown {
  item: Item;
  mime: string;
}

type Renderer = (shown: Shown) => ComponentChild;

/** Renderers by the beginning of the MIME type; the last one takes everything. */
const RENDERERS: [string, Renderer][] = [
  ["image/", ({ item }) => <Picture item={item} />],
  ["text/plain", ({ item }) => <Words item={item} />],
  ["", ({ item }) => <Unseen item={item} why="cannot be shown" />],
];

function Picture({ item }: { item: Item }) {
  const [lost, setLost] = useState(false);
  if (lost) return <Unseen item={item} why="cannot be read" />;
  return (
    <img
      src={item.preview ?? ""}
      alt={item.id}
      draggable={false}
      decoding="async"
      onError={() => setLost(true)}
      onLoad={(event) => {
        // Tiny pictures are enlarged with sharp pixels instead of a blur.
        const picture = event.currentTarget;
        picture.classList.toggle("tiny", picture.naturalWidth <= 64);
      }}
    />
  );
}

function Words({ item }: { item: Item }) {
  const [text, setText] = useState<string | null>(null);
  const [lost, setLost] = useState(false);
  useEffect(() => {
    let wanted = true;
    fetch(item.preview ?? "")
      .then(async (reply) => {
        if (!reply.ok) throw new Error(reply.statusText);
        const read = await reply.text();
        if (wanted) setText(read);
      })
      .catch(() => wanted && setLost(true));
    return () => {
      wanted = false;
    };
  }, [item.preview]);
  if (lost) return <Unseen item={item} why="cannot be read" />;
  return <div class="words">{text ?? "…"}</div>;
}

function Unseen({ item, why }: { item: Item; why: string }) {
  return (
    <div class="unseen">
      <strong>{item.id}</strong>
      <span>{why}</span>
    </div>
  );
}

/** The MIME type of a preview: told by the kind of item, else asked from the server. */
function useMime(item: Item): string | null {
  const known = item.kind === "image" ? "image/" : item.kind === "text" ? "text/plain" : null;
  const [asked, setAsked] = useState<string | null>(null);
  useEffect(() => {
    if (known !== null || item.preview === null) return;
    let wanted = true;
    fetch(item.preview)
      .then((reply) => wanted && setAsked(reply.headers.get("content-type") ?? ""))
      .catch(() => wanted && setAsked(""));
    return () => {
      wanted = false;
    };
  }, [known, item.preview]);
  return known ?? asked;
}

export function ItemView({ item, size }: { item: Item; size: "large" | "medium" | "small" }) {
  const mime = useMime(item);
  let inside: ComponentChild = null;
  if (item.preview === null) inside = <Unseen item={item} why="is no longer in the collection" />;
  else if (mime !== null) {
    const render = RENDERERS.find(([start]) => mime.startsWith(start))?.[1];
    inside = render?.({ item, mime });
  }
  return (
    <div class={`item ${size}`} title={item.id} {...hold(item)}>
      {inside}
    </div>
  );
}
