/** Pictures of a question are fetched and decoded before it is shown, so that it appears at once. */

import type { Question } from "./api";
import { shownItems } from "./parts/look";

/** Milliseconds after which a question is shown in any case. */
const PATIENCE = 60;

/** Resolves when the pictures can be drawn, or when that takes too long. */
export async function ready(question: Question | null, patience = PATIENCE): Promise<void> {
  if (question === null || typeof Image === "undefined") return;
  const pictures = shownItems(question).flatMap((item) =>
    item.kind === "image" && item.preview !== null ? [item.preview] : [],
  );
  const drawn = pictures.map((address) => {
    const picture = new Image();
    picture.src = address;
    return typeof picture.decode === "function" ? picture.decode().catch(() => undefined) : undefined;
  });
  const late = new Promise<void>((resolve) => setTimeout(resolve, patience));
  await Promise.race([Promise.all(drawn), late]);
}
