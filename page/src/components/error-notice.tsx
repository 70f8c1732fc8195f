/** A failed request, with a button to try again where that makes sense. */

import type { ApiError } from "../api/client";
import { Notice } from "./notice";

export function ErrorNotice({ error, retry }: { error: ApiError | null; retry?: () => void }) {
  if (error === null) return null;
  return (
    <Notice tone="warning" {...(retry && { action: { label: "Try again", run: retry } })}>
      {error.message} {error.whatToDo}
    </Notice>
  );
}
