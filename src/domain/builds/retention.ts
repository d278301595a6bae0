import type { Services } from "#domain/services";
import { attestationsKey } from "#storage/blobs";
import { listExpirable, markExpired } from "#storage/retention";

const dayMs = 24 * 60 * 60_000;
/** The number of builds that one run of the sweep checks. */
const atOnce = 100;

/**
 * Removes images and file stores that are older than KEEP_IMAGES_DAYS. First the row is marked, so that no row names a
 * deleted blob. The sweep removes what a crash leaves behind. The row, the log and the list of packages stay.
 */
export async function expireOldImages(
  { env, db }: Services<Pick<Env, "BLOBS" | "KEEP_IMAGES_DAYS">>,
  now: number,
): Promise<void> {
  const days = Number(env.KEEP_IMAGES_DAYS);
  if (!(days > 0)) return;
  for (const build of await listExpirable(db, new Date(now - days * dayMs), atOnce)) {
    if (!(await markExpired(db, build.id, new Date(now)))) continue;
    const keys = [build.imageKey, build.filesKey, build.filesIndexKey].filter((key) => key !== null);
    await env.BLOBS.delete([...keys, attestationsKey(build.uid)]);
  }
}
