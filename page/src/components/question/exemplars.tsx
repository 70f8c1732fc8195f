/** Items that represent one group: the central one large, the others around it. */

import type { ItemView } from "../../api/schema";
import { Item } from "../item";
import "./exemplars.css";

/** Columns and rows of cells; the central item takes two by two of them. */
function gridSize(n: number): [columns: number, rows: number] {
  if (n === 1) return [2, 2];
  if (n <= 3) return [3, 2];
  return [3, 2 + Math.ceil((n - 3) / 3)];
}

export function Exemplars({ items }: { items: ItemView[] }) {
  const [columns, rows] = gridSize(items.length);
  // Phones have more width than height: two rows, however many items.
  const phoneColumns = 2 + Math.ceil((items.length - 1) / 2);
  const style = {
    "--n": items.length,
    "--desktop-columns": columns,
    "--desktop-rows": rows,
    "--phone-columns": phoneColumns,
  };
  return (
    <div class="exemplar-grid">
      <div class="exemplar-cells" style={style}>
        {items.map((item, k) => (
          <Item key={item.id} item={item} size={k === 0 ? "medium" : "small"} />
        ))}
      </div>
    </div>
  );
}
