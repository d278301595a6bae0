/** The wait before failed chores are retried for the first time. It doubles with each further failure. */
export const retryMs = 5_000;
const mostRetryMs = 60_000;

/** The wait after chores have failed `times` in a row. */
export const retryAfterMs = (times: number): number => Math.min(mostRetryMs, retryMs * 2 ** (times - 1));

/**
 * Sets an object's alarm, or deletes it. An earlier alarm stays, because each move writes a row. When it fires, it
 * finds nothing to do and sets the next one. An alarm for chores, which fires within seconds, is replaced, because the
 * chores are done.
 */
export async function setAlarmBy(storage: DurableObjectStorage, at: number | null): Promise<void> {
  if (at === null) return await storage.deleteAlarm();
  const known = await storage.getAlarm();
  const isForChores = known === null || known <= Date.now() + retryMs;
  if (isForChores || known > at) await storage.setAlarm(at);
}
