/**
 * How often the object of a build or a testdrive updates the liveness time in its row. The sweep wakes only objects
 * whose update is late, because a live object would have updated its row long before.
 */
export const reportLivenessEveryMs = 60_000;
/** Longer than any lease, and than several liveness updates. */
const silentMs = 5 * 60_000;
/** Ample time: a request inserts the row and starts its object within seconds. */
const startedWithinMs = 60_000;

/** When the sweep wakes the object of a new row. */
export const wakeAfterStart = (at: Date): Date => new Date(at.getTime() + startedWithinMs);

/** When the sweep wakes an object after its last liveness update, or after it was last woken. */
export const wakeWhenSilent = (at: number): Date => new Date(at + silentMs);
