/** How groups and their exemplars are arranged so that all pictures are as large as possible. */

import type { Size } from "../use-size";

export interface Layout {
  /** Groups side by side. */
  columns: number;
  /** Cells side by side within a group. */
  across: number;
  /** The side of a cell, in pixels. */
  cell: number;
  /** Whether the first exemplar takes two by two cells. */
  central: boolean;
}

/** The space for the groups, in pixels. */
export interface Area extends Size {
  /** What a group needs around its pictures: padding, border and label. */
  around: Size;
  groupGap: number;
  itemGap: number;
}

const MAX_CELL = 230;
/** Below this many pixels little can be seen, and making a picture smaller costs more than it gains. */
const LEGIBLE_CELL = 44;

/** Ways to show `n` exemplars in cells: across, down, and whether the first one is large. */
function grids(n: number): [across: number, down: number, central: boolean][] {
  const plain = Array.from({ length: n }, (_, k): [number, number, boolean] => [
    k + 1,
    Math.ceil(n / (k + 1)),
    false,
  ]);
  if (n < 3) return plain;
  const others = Math.ceil((n - 1) / 2);
  return [...plain, [2 + others, 2, true], [2, 2 + others, true]];
}

/** The layout with the largest pictures. All groups get cells of one size. */
export function arrange(groups: number, exemplars: number, area: Area): Layout {
  const { around, groupGap, itemGap } = area;
  let best: Layout = { columns: groups, across: 1, cell: 0, central: false };
  let bestScore = 0;
  for (let columns = 1; columns <= groups; columns += 1) {
    const rows = Math.ceil(groups / columns);
    const width = (area.width - (columns - 1) * groupGap) / columns - around.width;
    const height = (area.height - (rows - 1) * groupGap) / rows - around.height;
    for (const [across, down, central] of grids(exemplars)) {
      const fits = Math.min(
        (width - (across - 1) * itemGap) / across,
        (height - (down - 1) * itemGap) / down,
      );
      const cell = Math.floor(Math.min(fits, central ? MAX_CELL / 2 : MAX_CELL));
      const legible = Math.min(1, (Math.max(0, cell) / LEGIBLE_CELL) ** 4);
      const score = legible * cell * cell * (exemplars + (central ? 3 : 0));
      if (score > bestScore) {
        bestScore = score;
        best = { columns, across, cell, central };
      }
    }
  }
  return best;
}
