/** Numbers, times and sizes in words. */

export function number(n: number): string {
  return n.toLocaleString("en");
}

/** "1 item", "2,000 items"; the plural can be given: "1 answer contradicts", "2 answers contradict". */
export function count(n: number, singular: string, plural = `${singular}s`): string {
  return `${number(n)} ${n === 1 ? singular : plural}`;
}

/** The last part of a path: folders that all items share would leave no room for the name. */
export function fileName(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1) || id;
}

const NOUNS: Record<string, string> = { image: "picture", text: "text", row: "row" };

/** A number of items of a kind: "40 pictures". */
export function countItems(n: number, kind: string): string {
  return count(n, NOUNS[kind] ?? "item");
}

export function percent(share: number): string {
  return `${Math.round(100 * share)}%`;
}

export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How long ago a time was, in seconds since 1970. */
export function ago(time: number, now: number = Date.now() / 1000): string {
  const passed = Math.max(0, now - time);
  const units: [number, string][] = [
    [86_400, "day"],
    [3_600, "hour"],
    [60, "minute"],
  ];
  for (const [seconds, name] of units) {
    const n = Math.floor(passed / seconds);
    if (n >= 1) return `${count(n, name)} ago`;
  }
  return "just now";
}

export function bytes(n: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let value = n;
  let power = 0;
  while (value >= 1000 && power < units.length - 1) {
    value /= 1000;
    power += 1;
  }
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
