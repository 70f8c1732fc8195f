/** Keeps the answer being sent until the server has it, even across a reload. */

import { ApiError } from "../api/client";
import type { AnswerResult, NewAnswer } from "../api/schema";

const MAX_RETRY_SECONDS = 30;

export interface Outbox {
  /** The answer that has not been delivered yet. */
  pending: () => NewAnswer | null;
  send: (answer: NewAnswer, post: (answer: NewAnswer) => Promise<AnswerResult>) => Promise<AnswerResult>;
}

/** Keep the answer under the name of its ledger: other piles may be served at the same address. */
export function createOutbox(ledger: () => string | null, storage: Storage = localStorage): Outbox {
  const key = () => `samekind:unsent:${ledger()}`;

  function pending(): NewAnswer | null {
    try {
      const text = storage.getItem(key());
      return text === null ? null : (JSON.parse(text) as NewAnswer);
    } catch {
      return null;
    }
  }

  function save(answer: NewAnswer): void {
    try {
      storage.setItem(key(), JSON.stringify(answer));
    } catch {
      // Without storage the answer is still in memory while the page is open.
    }
  }

  function clear(): void {
    try {
      storage.removeItem(key());
    } catch {
      // Nothing was stored.
    }
  }

  async function send(answer: NewAnswer, post: (answer: NewAnswer) => Promise<AnswerResult>): Promise<AnswerResult> {
    save(answer);
    try {
      const done = await post(answer);
      clear();
      return done;
    } catch (error) {
      // Only an answer that its own ledger received and rejected is dropped.
      if (error instanceof ApiError && !error.retryable && !error.isOtherLedger) clear();
      throw error;
    }
  }

  return { pending, send };
}

/** Seconds to wait before the n-th attempt to send an answer again. */
export function retryDelay(attempts: number): number {
  return Math.min(MAX_RETRY_SECONDS, 2 ** attempts);
}
