/** Keys printed on a button. */

import { caption } from "../keyboard/keys";

export function Keys({ keys }: { keys: string[] }) {
  return (
    <span class="keys" aria-hidden="true">
      {keys.map((key) => (
        <kbd key={key}>{caption(key)}</kbd>
      ))}
    </span>
  );
}
