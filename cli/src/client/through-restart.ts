import { setTimeout as sleep } from "node:timers/promises";
import { Complaint } from "../complaint.ts";

/** Together long enough for a restart of the service. */
const pausesMs = [1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000];

/** Repeats a reading call while a service that has answered before is restarting. */
export async function throughRestart<T>(call: () => Promise<T>): Promise<T> {
  for (const pause of pausesMs) {
    try {
      return await call();
    } catch (error) {
      const isOut = error instanceof Complaint && (error.exit === "unreachable" || error.exit === "broken");
      if (!isOut) throw error;
      await sleep(pause);
    }
  }
  return await call();
}
