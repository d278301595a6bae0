import { counted } from "#lib/words/counted";
import { waiting, whyWaiting } from "#domain/builds/why-waiting";
import type { Progress } from "#domain/builds/progress";
import { countQueuedBefore } from "#storage/build-queue";
import type { Database } from "#storage/db";

/**
 * Adds the position in the queue to a waiting build. The position counts all queued builds before this one, although an
 * agent skips builds that it cannot do.
 */
export async function withPlaceInQueue<T extends Progress>(db: Database, buildId: number, seen: T): Promise<T> {
  if (seen.state !== "queued") return seen;
  const before = await countQueuedBefore(db, buildId);
  return { ...seen, queuePosition: before + 1, message: before === 0 ? seen.message : withPlace(seen.message, before) };
}

/** Adds the position to the message. Other reasons for waiting do not depend on the builds before this one. */
function withPlace(message: string, before: number): string {
  const builds = counted(before, "build");
  if (message === waiting) return `Waiting in the queue: ${builds} before this one.`;
  return message === whyWaiting.busy ? `${message}; ${builds} before this one` : message;
}
