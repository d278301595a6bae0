import type { EventName } from "#model/event-names";

/**
 *             2xx
 *   waiting ─────────> delivered
 *    ^   │
 *    │   │ anything else: again after 10 s, 20 s, 40 s … at most 4 h, each ±25%, at random
 *    └───┤
 *        │ the next attempt would come more than 24 h after the first was due
 *        └───────────> failed
 */
type DeliveryState = "waiting" | "delivered" | "failed";

/** The delivery of one event to one webhook. */
export interface Delivery {
  id: number;
  /** The webhook's uid. For an old webhook it is an id, which SQLite returns as a number. */
  webhookId: string | number;
  eventId: number;
  event: EventName;
  /** JSON. */
  body: string;
  state: DeliveryState;
  attempts: number;
  /** Milliseconds since 1970, like all times here. Null if there is no further attempt. */
  nextAt: number | null;
  /** The receiver's answer to the last attempt, or why there was none. */
  status: number | null;
  problem: string | null;
  createdAt: number;
  /** The time of the last attempt. */
  attemptedAt: number | null;
}

export interface Attempted {
  state: DeliveryState;
  attempts: number;
  /** When the delivery is tried again. Null if it has ended. */
  nextAt: number | null;
}

const firstWaitMs = 10_000;
const longestWaitMs = 4 * 60 * 60_000;
const givenUpAfterMs = 24 * 60 * 60_000;
/** A webhook that accepts nothing for this long is disabled. */
const disabledAfterMs = 3 * 24 * 60 * 60_000;

/** The delivery after one more attempt. `random` is in [0, 1), and spreads retries over time. */
export function afterAttempt(
  { createdAt, attempts: before }: { createdAt: number; attempts: number },
  succeeded: boolean,
  { at, random }: { at: number; random: number },
): Attempted {
  const attempts = before + 1;
  if (succeeded) return { state: "delivered", attempts, nextAt: null };
  const nextAt = at + waitAfter(attempts, random);
  return nextAt > createdAt + givenUpAfterMs
    ? { state: "failed", attempts, nextAt: null }
    : { state: "waiting", attempts, nextAt };
}

/** Milliseconds between this failed attempt and the next. */
export const waitAfter = (attempts: number, random: number): number =>
  Math.round(Math.min(firstWaitMs * 2 ** (attempts - 1), longestWaitMs) * (0.75 + random / 2));

/** How a webhook's latest deliveries went. */
export interface Health {
  /** The first failure since the last success. */
  failingSince: Date | null;
  disabledReason: string | null;
}

/** The health after one more attempt. `reason` is why it failed. */
export function healthAfter(
  { failingSince }: Health,
  { succeeded, reason }: { succeeded: boolean; reason: string },
  at: number,
): Health {
  if (succeeded) return { failingSince: null, disabledReason: null };
  const since = failingSince ?? new Date(at);
  const isDisabled = at - since.getTime() >= disabledAfterMs;
  return {
    failingSince: since,
    disabledReason: isDisabled ? `It has accepted nothing since ${since.toISOString()}. ${reason}` : null,
  };
}
