/** Fetch and decode the pictures of a question before it is shown, so that it appears at once. */

import type { ItemView, QuestionView } from "../api/schema";

/** Pictures that are waited for; those at the end of a long list are fetched as they are shown. */
const MAX_PICTURES = 48;
/** Milliseconds after which a question is shown in any case. */
const MAX_WAIT_MS = 60;

/** Every item of a question, each once, those above the choices first. */
export function itemsOf(question: QuestionView): ItemView[] {
  const all = [...question.items, ...question.choices.flatMap((choice) => choice.exemplars)];
  return [...new Map(all.map((item) => [item.id, item])).values()];
}

/** Resolves when the pictures can be drawn, or when that takes too long. */
export async function preload(question: QuestionView | null, maxWaitMs = MAX_WAIT_MS): Promise<void> {
  if (question === null || typeof Image === "undefined") return;
  const pictures = itemsOf(question)
    .flatMap((item) => (item.kind === "image" && item.preview !== null ? [item.preview] : []))
    .slice(0, MAX_PICTURES);
  const decoded = pictures.map((url) => {
    const image = new Image();
    image.src = url;
    return typeof image.decode === "function" ? image.decode().catch(() => undefined) : undefined;
  });
  const timeout = new Promise<void>((resolve) => setTimeout(resolve, maxWaitMs));
  await Promise.race([Promise.all(decoded), timeout]);
}
