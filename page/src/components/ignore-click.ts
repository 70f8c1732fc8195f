/** The click that a browser sends when a finger or a button is let go means nothing after a hold or a drag. */

/** Where no click follows, the next one is far later than this, in milliseconds. */
const SOON_MS = 50;

/** Swallow the click of this release, but never one that begins with a press of its own. */
export function ignoreNextClick(): void {
  const done = new AbortController();
  const options = { capture: true, signal: done.signal };
  const cancel = (event: Event) => {
    event.stopPropagation();
    event.preventDefault();
    done.abort();
  };
  addEventListener("click", cancel, options);
  addEventListener("pointerdown", () => done.abort(), options);
  setTimeout(() => done.abort(), SOON_MS);
}
