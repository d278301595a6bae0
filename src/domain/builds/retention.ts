import type { Services } from "#domain/services";
import { forgetBuild } from "#domain/builds/deletion";
import { attestationsKey } from "#storage/blobs";
import { deleteImagelessBefore, listOldImages, markExpired, type ExpiryCursor } from "#storage/retention";
import { listNamedFileStores } from "#storage/file-stores";
import { findSweepPosition, saveSweepPosition } from "#storage/sweep";

const dayMs = 24 * 60 * 60_000;
/** How many images one run of the sweep checks. */
const checkedAtOnce = 300;
const forgottenAtOnce = 100;
/** How long a build without an image is kept. */
const imagelessMs = 90 * dayMs;

/**
 * Where the next run continues. Images that are kept forever, because they are published, are not read in every run.
 */
const position = "old images";

/**
 * Removes images and file stores that are older than KEEP_IMAGES_DAYS. The row is marked first, so that no row names a
 * deleted blob. The sweep removes anything that a crash leaves behind. The row, the log and the list of packages stay.
 */
export async function expireOldImages(
  { env, db }: Services<Pick<Env, "BLOBS" | "KEEP_IMAGES_DAYS">>,
  now: number,
): Promise<void> {
  const days = Number(env.KEEP_IMAGES_DAYS);
  if (!(days > 0)) return;
  const before = new Date(now - days * dayMs);
  const after = cursorOf((await findSweepPosition(db, position)) ?? "");
  const old = await listOldImages(db, { before, after, limit: checkedAtOnce });
  for (const { build, isKept } of old) {
    if (isKept || !(await markExpired(db, build.id, new Date(now)))) continue;
    const { imageKey, filesKey, filesIndexKey, deltaKey } = build;
    const keys = [imageKey, filesKey, filesIndexKey, deltaKey].filter((key) => key !== null);
    const shared = await listNamedFileStores(db, keys);
    await env.BLOBS.delete([...keys.filter((key) => !shared.has(key)), attestationsKey(build.uid)]);
  }
  // A failed run starts again with the same images.
  const last = old.length < checkedAtOnce ? undefined : old.at(-1)?.build;
  await saveSweepPosition(db, position, last && `${last.completedAt?.getTime()} ${last.id}`);
}

/** Reads a stored position. Without one, the walk starts from the beginning. */
function cursorOf(text: string): ExpiryCursor {
  const [completedAt = 0, id = 0] = text.split(" ").map(Number);
  return { completedAt, id };
}

/**
 * Removes builds that have had no image for 90 days, with their logs: they failed, or their image has expired (decision
 * 51). Otherwise an appliance that is built every night would have thousands of them.
 */
export async function forgetImagelessBuilds({ env, db }: Services, now: number): Promise<void> {
  for (const build of await deleteImagelessBefore(db, new Date(now - imagelessMs), forgottenAtOnce))
    await forgetBuild({ env, db }, build);
}
