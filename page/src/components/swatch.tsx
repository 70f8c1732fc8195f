/** The colour and shape of a group. */

import { appearance, colourOf, SHAPES } from "./group-colours";
import { useDark } from "./use-dark";
import "./swatch.css";

export function Swatch({ slot }: { slot: number }) {
  const colour = colourOf(slot, useDark());
  const shape = SHAPES[appearance(slot).shape];
  return (
    <svg class="swatch" viewBox="-10 -10 20 20" aria-hidden="true">
      {shape === "disc" && <circle r="8.6" fill={colour} />}
      {shape === "square" && <rect x="-7.6" y="-7.6" width="15.2" height="15.2" fill={colour} />}
      {shape === "triangle" && <path d="M0-9 9 7H-9Z" fill={colour} />}
      {shape === "ring" && <circle r="6.2" fill="none" stroke={colour} stroke-width="4.6" />}
    </svg>
  );
}
