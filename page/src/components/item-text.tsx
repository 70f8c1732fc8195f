/** A text on a card: as many whole words as fit, and all of it when the card is pointed at or focused. */

import { useLayoutEffect, useRef } from "preact/hooks";
import "./item-text.css";

/** The longest beginning of a text, in whole words, for which `fits` holds. */
export function wholeWords(text: string, fits: (shown: string) => boolean): string {
  if (fits(text)) return text;
  const ends = [...text.matchAll(/\S+/g)].map((word) => word.index + word[0].length);
  let low = 0; // so many words fit
  let high = ends.length; // and so many do not
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (fits(`${text.slice(0, ends[middle - 1])} …`)) low = middle;
    else high = middle;
  }
  return low === 0 ? "…" : `${text.slice(0, ends[low - 1])} …`;
}

export function CardText({ text }: { text: string }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const fit = () => {
      element.textContent = wholeWords(text, (shown) => {
        element.textContent = shown;
        return element.scrollHeight <= element.clientHeight + 1;
      });
      if (element.textContent === text) delete element.dataset.full;
      else element.dataset.full = text;
    };
    fit();
    if (typeof ResizeObserver === "undefined") return;
    let width = element.offsetWidth;
    const watch = new ResizeObserver(() => {
      if (element.offsetWidth === width) return;
      width = element.offsetWidth;
      fit();
    });
    watch.observe(element.closest(".item") ?? element);
    return () => watch.disconnect();
  }, [text]);
  return <div ref={box} class="text-preview words" />;
}

/* -- all of it -- */

let shown: HTMLElement | null = null;

function hide(): void {
  shown?.remove();
  shown = null;
}

/** Show the whole text beside the card that holds its beginning. */
function show(cut: HTMLElement): void {
  hide();
  const around = (cut.closest(".item") ?? cut).getBoundingClientRect();
  shown = document.createElement("div");
  shown.className = "full-text";
  shown.setAttribute("role", "tooltip");
  shown.textContent = cut.dataset.full ?? "";
  document.body.append(shown);
  const { width, height } = shown.getBoundingClientRect();
  const below = around.bottom + height + 8 <= innerHeight;
  shown.style.left = `${Math.max(8, Math.min(around.left, innerWidth - width - 8))}px`;
  shown.style.top = `${Math.max(8, below ? around.bottom + 4 : around.top - height - 4)}px`;
}

/** The text that is cut within an element, if there is exactly one. */
function cutWithin(target: EventTarget | null): HTMLElement | null {
  if (!(target instanceof Element)) return null;
  const found = target.querySelectorAll<HTMLElement>("[data-full]");
  return found.length === 1 ? (found[0] as HTMLElement) : null;
}

addEventListener("pointerover", (event) => {
  if (event.pointerType !== "mouse") return;
  const item = event.target instanceof Element ? event.target.closest(".item") : null;
  const cut = cutWithin(item);
  if (cut === null) hide();
  else if (shown?.textContent !== cut.dataset.full) show(cut);
});
addEventListener("focusin", (event) => {
  const target = event.target instanceof Element && event.target.matches(":focus-visible") ? event.target : null;
  const cut = cutWithin(target);
  if (cut === null) hide();
  else show(cut);
});
addEventListener("keydown", (event) => event.key === "Escape" && hide());
addEventListener("scroll", hide, { capture: true, passive: true });
addEventListener("pointerdown", hide);
addEventListener("popstate", hide);
