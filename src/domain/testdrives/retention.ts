import type { Services } from "#domain/services";
import { deleteEndedTestdrives } from "#storage/testdrives";

const keptMs = 30 * 24 * 60 * 60_000;
const deletedAtOnce = 100;

/**
 * A chore of the sweep: deletes the rows of testdrives that ended more than 30 days ago. Until then, a row only shows
 * that its testdrive has ended. The disks and the storage of the objects were deleted soon after the end. Checks and
 * the gallery keep their own results and counts.
 */
export async function forgetTestdrives({ db }: Pick<Services, "db">, now: number): Promise<void> {
  while ((await deleteEndedTestdrives(db, new Date(now - keptMs), deletedAtOnce)) === deletedAtOnce);
}
