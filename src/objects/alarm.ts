import { retryMs } from "./build-chores.ts";

/**
 * Sets an object's alarm, or deletes it. An earlier alarm stays, because each move writes a row: it finds nothing to do, and sets the
 * next one. An alarm for chores, which comes within seconds, is replaced, since they are done.
 */
export async function setAlarmBy(storage: DurableObjectStorage, at: number | null): Promise<void> {
  if (at === null) return await storage.deleteAlarm();
  const known = await storage.getAlarm();
  const isForChores = known === null || known <= Date.now() + retryMs;
  if (isForChores || known > at) await storage.setAlarm(at);
}
