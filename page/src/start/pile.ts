/** Which pile the address names; calls to the server say so too. */

/** The pile in `?pile=`; null: the one that the server was started with. */
export function pileHere(): string | null {
  return new URLSearchParams(location.search).get("pile");
}

/** An address of the server, for the pile of this page; one that names a pile stays as it is. */
export function ofPile(url: string): string {
  const pile = pileHere();
  if (pile === null || /[?&]pile=/.test(url)) return url;
  return `${url}${url.includes("?") ? "&" : "?"}pile=${encodeURIComponent(pile)}`;
}
