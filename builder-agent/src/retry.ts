import { setTimeout as sleep } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import type { ClaimOnce } from "./contract.ts";

/** An error status from the Worker or the queue. */
export class RemoteRefusal extends Error {
  readonly status: number;
  constructor(what: string, status: number, said: string) {
    super(`${what}: HTTP ${status}${said === "" ? "" : ` ${said}`}`);
    this.name = "RemoteRefusal";
    this.status = status;
  }
}

export interface Tries {
  attempts: number;
  /**
   * The limit of the first pause. It doubles with each attempt. Each pause is a random part of the limit (full jitter).
   */
  baseDelayMs: number;
  maxDelayMs: number;
  signal: AbortSignal;
  /** Called before each attempt except the first. */
  onRetry?: () => void;
}

/** 5 attempts with pauses of at most 0.5, 1, 2, 4 s: 7.5 s, well inside the 30 s lease. */
export const shortTries = (signal: AbortSignal): Tries => ({
  attempts: 5,
  baseDelayMs: 500,
  maxDelayMs: 4_000,
  signal,
});

/**
 * 30 attempts with about three minutes of pauses, for failures that would cost a whole build. Its lease needs only
 * heartbeats.
 */
export const longTries = (signal: AbortSignal): Tries => ({
  attempts: 30,
  baseDelayMs: 500,
  maxDelayMs: 15_000,
  signal,
});

export async function withRetry<T>(work: () => Promise<T>, tries: Tries): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    tries.signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (attempt >= tries.attempts || !isWorthRetry(error)) throw error;
      // If the signal is aborted, the start of the loop throws its reason.
      await sleep(pauseMs(attempt, tries), undefined, { signal: tries.signal }).catch(() => {});
      tries.onRetry?.();
    }
  }
}

/** Network errors, server errors and "slow down" are temporary. All other errors are final. */
export function isWorthRetry(error: unknown): boolean {
  if (error instanceof RemoteRefusal) return error.status === 408 || error.status === 429 || error.status >= 500;
  if (!(error instanceof Error)) return false;
  // fetch throws TypeError for all network errors, with the reason in `cause`. A bug in our code has no cause.
  return error.name === "TimeoutError" || (error instanceof TypeError && error.cause !== undefined);
}

/**
 * Full jitter: anything up to the ceiling, so that agents that lost the Worker at the same time do not all return at
 * the same time.
 */
export function pauseMs(attempt: number, limits: { baseDelayMs: number; maxDelayMs: number }): number {
  return Math.random() * Math.min(limits.maxDelayMs, limits.baseDelayMs * 2 ** (attempt - 1));
}

/** The answer, if its status is a success. Otherwise throws, with the start of the body. */
export async function okOrRefusal(what: string, answer: Response): Promise<Response> {
  if (answer.ok) return answer;
  throw new RemoteRefusal(what, answer.status, (await answer.text().catch(() => "")).slice(0, 300));
}

/**
 * The claims of one kind of work. Each is repeated until its answer has arrived: the Worker gives it the same work. If
 * no try gets an answer, the next claim repeats it. Otherwise that work would wait until the end of its lease.
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
