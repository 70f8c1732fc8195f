/** Whether the screen is as narrow as a phone: the limit of the style sheets. */

import { useEffect, useState } from "preact/hooks";

const QUERY = "(max-width: 700px)";

export function usePhone(): boolean {
  const find = () => typeof matchMedia === "function" && matchMedia(QUERY).matches;
  const [phone, setPhone] = useState(find);
  useEffect(() => {
    if (typeof matchMedia !== "function") return;
    const query = matchMedia(QUERY);
    const listen = () => setPhone(query.matches);
    query.addEventListener("change", listen);
    return () => query.removeEventListener("change", listen);
  }, []);
  return phone;
}
