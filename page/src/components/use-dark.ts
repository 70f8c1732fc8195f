/** Whether the page is in dark mode right now. */

import { useEffect, useState } from "preact/hooks";

const query = () => matchMedia("(prefers-color-scheme: dark)");

export function useDark(): boolean {
  const [dark, setDark] = useState(() => query().matches);
  useEffect(() => {
    const media = query();
    const update = () => setDark(media.matches);
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, []);
  return dark;
}
