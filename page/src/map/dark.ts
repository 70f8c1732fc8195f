/** Whether the page is dark right now. */

import { useEffect, useState } from "preact/hooks";

const ask = () => matchMedia("(prefers-color-scheme: dark)");

export function useDark(): boolean {
  const [dark, setDark] = useState(() => ask().matches);
  useEffect(() => {
    const query = ask();
    const follow = () => setDark(query.matches);
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  return dark;
}
