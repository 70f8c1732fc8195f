/** The item under the pointer. */

import type { Client } from "../../api/client";
import { Item } from "../../components/item";
import { Swatch } from "../../components/swatch";
import type { Size } from "../../components/use-size";
import { useItems } from "./item-cache";

/** The size of the card in map.css, and its distance from the point. */
const WIDTH = 190;
const HEIGHT = 250;
const DISTANCE = 16;

export interface Hovered {
  point: number;
  at: [x: number, y: number];
}

/** Beside the point, on the side with enough room. */
export function placeBeside([x, y]: [number, number], size: Size): { left: number; top: number } {
  const fitsRight = x + DISTANCE + WIDTH <= size.width;
  const left = fitsRight ? x + DISTANCE : Math.max(0, x - DISTANCE - WIDTH);
  const top = Math.min(Math.max(0, y - HEIGHT / 2), Math.max(0, size.height - HEIGHT));
  return { left, top };
}

interface Props {
  client: Client;
  hovered: Hovered;
  size: Size;
  name: string;
  slot: number;
  openMenu: () => void;
}

export function HoverCard({ client, hovered, size, name, slot, openMenu }: Props) {
  const [item] = useItems(client, [hovered.point]);
  const { left, top } = placeBeside(hovered.at, size);
  return (
    <div class="hover-card" style={{ left: `${left}px`, top: `${top}px` }}>
      <div class="hover-item">{item && <Item item={item} size="medium" />}</div>
      <p class="caption">{item?.id ?? "…"}</p>
      <p class="hover-group">
        <Swatch slot={slot} /> {name}
      </p>
      <button type="button" class="hover-more" aria-label={`More about ${item?.id ?? "this"}`} onClick={openMenu}>
        More…
      </button>
    </div>
  );
}
