import { listLastCheckRuns, type CheckRun } from "#storage/check-runs";
import type { Database } from "#storage/db";

/**
 * The run that shows when the images of a version were last checked. Undefined if one has failed, or if none was
 * checked.
 */
export async function proofOf(db: Database, images: readonly { id: number }[]): Promise<CheckRun | undefined> {
  const buildIds = images.map(({ id }) => id);
  const runs = await listLastCheckRuns(db, buildIds);
  return runs.every(({ state }) => state === "passed") ? runs.at(-1) : undefined;
}
