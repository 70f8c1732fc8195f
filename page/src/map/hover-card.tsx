/** The item under the pointer. */

import type { ActsApi } from "../acts-api";
import { Swatch } from "../groups/swatch";
import { ItemView } from "../items/item";
import type { Size } from "./camera";
import { useItems } from "./previews";

const WIDTH = 190;
const HEIGHT = 250;
const AWAY = 16;

export interface Hovered {
  point: number;
  at: [number, number];
}

/** Beside the point, on the side where there is room. */
export function beside([x, y]: [number, number], size: Size): { left: number; top: number } {
  const right = x + AWAY + WIDTH <= size.width;
  const left = right ? x + AWAY : Math.max(0, x - AWAY - WIDTH);
  const top = Math.min(Math.max(0, y - HEIGHT / 2), Math.max(0, size.height - HEIGHT));
  return { left, top };
}

interface Props {
  api: ActsApi;
  hovered: Hovered;
  size: Size;
  name: string;
  slot: number;
}

export function HoverCard({ api, hovered, size, name, slot }: Props) {
  const [item] = useItems(api, [hovered.point]);
  const { left, top } = beside(hovered.at, size);
  return (
    <div class="hover-card" style={{ left: `${left}px`, top: `${top}px` }}>
      <div class="hover-item">{item && <ItemView item={item} size="medium" />}</div>
      <p class="caption">{item?.id ?? "…"}</p>
      <p class="hover-group">
        <Swatch slot={slot} /> {name}
      </p>
    </div>
  );
}
