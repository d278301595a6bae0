import type { Services } from "#domain/services";
import { deleteEndedTestdrives } from "#storage/testdrives";

const keptMs = 30 * 24 * 60 * 60_000;
const deletedAtOnce = 100;

/**
 * A chore of the sweep. It deletes the rows of testdrives that ended 30 days ago, which only answer that they have
 * ended. Their disks and the storage of their objects were deleted soon after the end. Checks and the gallery keep
 * their own results and counts.
 */
export async function forgetTestdrives({ db }: Pick<Services, "db">, now: number): Promise<void> {
  while ((await deleteEndedTestdrives(db, new Date(now - keptMs), deletedAtOnce)) === deletedAtOnce);
}
