/** Words for piles, times and sizes. */

const NOUNS: Record<string, [string, string]> = {
  image: ["picture", "pictures"],
  text: ["text", "texts"],
  row: ["row", "rows"],
};

export function things(n: number, kind: string): string {
  const [one, many] = NOUNS[kind] ?? ["item", "items"];
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** How long ago, for seconds since 1970. */
export function ago(at: number, now: number = Date.now() / 1000): string {
  const passed = Math.max(0, now - at);
  const steps: [number, string][] = [
    [86_400, "day"],
    [3_600, "hour"],
    [60, "minute"],
  ];
  for (const [unit, word] of steps) {
    const n = Math.floor(passed / unit);
    if (n >= 1) return `${n} ${word}${n === 1 ? "" : "s"} ago`;
  }
  return "just now";
}

export function bytes(n: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let value = n;
  let step = 0;
  while (value >= 1000 && step < units.length - 1) {
    value /= 1000;
    step += 1;
  }
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}
