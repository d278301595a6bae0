/**
 * The object of a build or a testdrive writes a sign of life to its row from time to time. The sweep wakes only objects whose
 * sign is late: a live object has acted long before.
 */
export const reportLivenessEveryMs = 60_000;
/** Longer than any lease, and several signs of life. */
const silentMs = 5 * 60_000;
/** A request inserts the row and starts its object within seconds. */
const startedWithinMs = 60_000;

/** When the sweep wakes the object of a new row. */
export const wakeAfterStart = (at: Date): Date => new Date(at.getTime() + startedWithinMs);

/** When the sweep wakes an object after a sign of life, or after it was woken. */
export const wakeWhenSilent = (at: number): Date => new Date(at + silentMs);
