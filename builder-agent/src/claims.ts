import { randomUUID } from "node:crypto";
import type { ClaimOnce } from "./contract.ts";
import { shortTries, withRetry } from "./retry.ts";

/**
 * The claims of one kind of work. Each is repeated until its answer has arrived: the Worker gives it the same work. If no try gets an
 * answer, the next claim repeats it. Otherwise that work would wait until the end of its lease.
 */
export function repeatedClaims() {
  let unanswered: string | undefined;
  return async <T>(ask: (claim: ClaimOnce) => Promise<T>, signal: AbortSignal): Promise<T> => {
    const claim: ClaimOnce =
      unanswered === undefined ? { nonce: randomUUID() } : { nonce: unanswered, isRepeated: true };
    unanswered = undefined; // a claim at the same time gets a different nonce
    try {
      return await withRetry(() => ask(claim), {
        ...shortTries(signal),
        onRetry: () => void (claim.isRepeated = true),
      });
    } catch (error) {
      unanswered = claim.nonce;
      throw error;
    }
  };
}
