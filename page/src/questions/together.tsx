/** Items that stand for one group: the central one large, the others around it. */

import type { Item } from "../api";
import { ItemView } from "../items/item";

/** Columns and rows of small pictures; the central one takes two by two of them. */
function shape(n: number): [number, number] {
  if (n === 1) return [2, 2];
  if (n <= 3) return [3, 2];
  return [3, 2 + Math.ceil((n - 3) / 3)];
}

export function Together({ items }: { items: Item[] }) {
  const [columns, rows] = shape(items.length);
  // On a phone there is more width than height: two rows, however many.
  const flat = 2 + Math.ceil((items.length - 1) / 2);
  const style = { "--n": items.length, "--wide": columns, "--wide-rows": rows, "--flat": flat };
  return (
    <div class="together">
      <div class="together-items" style={style}>
        {items.map((item, k) => (
          <ItemView key={item.id} item={item} size={k === 0 ? "medium" : "small"} />
        ))}
      </div>
    </div>
  );
}
