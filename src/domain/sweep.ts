import type { Services } from "#domain/services";
import { buildObject } from "#domain/builds/build";
import { forgetBuild } from "#domain/builds/deletion";
import { nextOldKeys, removeBlobs } from "#domain/old-keys";
import { wakeWhenSilent } from "#domain/liveness";
import { logFailure } from "#log/log";
import { abortNoted } from "#storage/begun-uploads";
import {
  attestationsKey,
  begunUploadsPrefix,
  buildUidOfKey,
  buildsPrefix,
  inputsPrefix,
  installedKey,
  logKey,
  sha256OfKey,
  updatesKey,
} from "#storage/blobs";
import { isUnfinished, takeSilentBuilds } from "#storage/builds";
import { listNamedFileStores } from "#storage/file-stores";
import { listPreparedBlobs } from "#storage/prepared-roots";
import { deleteRetiredBefore, listBuildsByUid, listUsedInputs, type SweptBuild } from "#storage/sweep";

/** How long downloads of a replaced build may continue. */
const graceMs = 60 * 60_000;
/** An upload of 2 GiB may take a long time. */
const longestUploadMs = 24 * 60 * 60_000;
/** How many objects one run wakes. */
const pageSize = 500;
/** How many builds' leftovers one run removes. */
const forgottenAtOnce = 100;
/** How many objects without a row one run empties. The blobs of others wait for the next time. */
const objectsAtOnce = 50;

/**
 * Wakes the objects of silent builds: they continue what a crash interrupted, and rewrite rows that a restore has
 * reverted.
 */
export async function wakeSilentBuilds({ env, db }: Services, now: number): Promise<void> {
  const silent = await takeSilentBuilds(db, { now: new Date(now), wakeAt: wakeWhenSilent(now), limit: pageSize });
  await Promise.all(
    silent.map((build) =>
      buildObject(env, build)
        .wake({ rowState: build.status })
        .catch((error: unknown) => logFailure("could not wake a build", error, { buildId: build.id })),
    ),
  );
}

/** Deletes builds that were replaced by forced builds, after an hour, so that downloads can finish. */
export async function forgetRetiredBuilds({ env, db }: Services, now: number): Promise<void> {
  const gone = await deleteRetiredBefore(db, new Date(now - graceMs), forgottenAtOnce);
  for (const build of gone) await forgetBuild({ env, db }, build);
}

/**
 * Removes blobs of builds that no longer have a row, and of attempts that did not produce the build's image. Before the
 * last trace of a build is gone, its object deletes its state: an appliance is deleted with the rows of all its builds.
 */
export async function removeStrayBuildBlobs({ env, db }: Services, now: number): Promise<void> {
  const old = await nextOldKeys({ env, db }, { prefix: buildsPrefix, now });
  const uids = [...new Set(old.map(buildUidOfKey))];
  const kept = new Map((await listBuildsByUid(db, uids)).map((build) => [build.uid, build]));
  const prepared = await listPreparedBlobs(db, uids);
  const stores = await listNamedFileStores(db, old);
  const strays = old.filter(
    (key) => !prepared.has(key) && !stores.has(key) && !belongs(key, kept.get(buildUidOfKey(key))),
  );
  const gone = [...new Set(strays.map(buildUidOfKey))].filter((uid) => !kept.has(uid));
  for (const uid of gone.slice(0, objectsAtOnce)) await buildObject(env, { uid }).forget();
  const later = new Set(gone.slice(objectsAtOnce));
  await removeBlobs(
    env,
    strays.filter((key) => !later.has(buildUidOfKey(key))),
  );
}

/** Removes frozen inputs that no build names. */
export async function removeStrayInputs({ env, db }: Services, now: number): Promise<void> {
  const old = await nextOldKeys({ env, db }, { prefix: inputsPrefix, now });
  const used = await listUsedInputs(db, old.map(sha256OfKey));
  await removeBlobs(
    env,
    old.filter((key) => !used.has(sha256OfKey(key))),
  );
}

/** Aborts multipart uploads that a crash has left unfinished. */
export async function abortLostUploads({ env, db }: Services, now: number): Promise<void> {
  const notes = await nextOldKeys({ env, db }, { prefix: begunUploadsPrefix, now, youngMs: longestUploadMs });
  for (const note of notes) {
    await abortNoted(env.BLOBS, note).catch((error: unknown) =>
      logFailure("could not abort a lost upload", error, { note }),
    );
  }
}

function belongs(key: string, build: SweptBuild | undefined): boolean {
  if (!build) return false;
  // While the build runs, only its object deletes uploads of its attempts.
  const { uid, imageKey, filesIndexKey, deltaKey } = build;
  const ofImage = imageKey === null ? [] : [imageKey, attestationsKey(uid), updatesKey(uid)];
  const stored = [...ofImage, filesIndexKey, deltaKey, logKey(uid), installedKey(uid)];
  return isUnfinished(build) || stored.includes(key);
}
