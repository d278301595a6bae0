import type { Services } from "#domain/services";
import { makeOnce } from "#domain/accounts/idempotency";
import { spendRebuild } from "#domain/accounts/rates";
import { buildObject, getBuild } from "#domain/builds/build";
import { slotsOf } from "#domain/builds/start";
import type { LinkReader } from "#domain/builds/download-link";
import { blobsIn } from "#domain/builds/frozen-content";
import { wakeAfterStart } from "#domain/liveness";
import { Refusal } from "#domain/refusal";
import { uploadsIn } from "#domain/repositories/user-repository";
import { newToken } from "#domain/secrets";
import { logFailure } from "#log/log";
import { requestIdNow } from "#log/request-id";
import { findInput } from "#storage/build-blobs";
import { findBuild, findBuildByUid, hasFreeSlot, type Build } from "#storage/builds";
import { listNamedBlobs } from "#storage/contents";
import type { Database } from "#storage/db";
import { freezeBlobs } from "#storage/frozen-blobs";
import { addRebuild, findUnfinishedRebuild, listRebuilds } from "#storage/rebuilds";
import { listUsedBlobIds } from "#storage/rpms";

interface RebuildRequest {
  buildId: number;
  requestId?: string | undefined;
}

/**
 * Builds the frozen input of a build again, to compare the two images. If a rebuild of it is already queued or running,
 * returns that one.
 */
export async function requestRebuild(
  { env, db }: Services,
  accountId: number,
  { buildId, requestId }: RebuildRequest,
): Promise<Build> {
  const first = await findBuild(db, accountId, buildId);
  if (!first) throw new Refusal("invalid_build_id", { reason: "unknown" });
  const rebuild = await makeOnce(requestId, {
    find: (uid) => findBuildByUid(db, uid),
    make: async () =>
      (await findUnfinishedRebuild(db, buildId)) ??
      (await enqueue({ env, db }, first, requestId ?? crypto.randomUUID())),
  });
  // If this fails, the sweep wakes the object.
  await buildObject(env, rebuild)
    .wake({ requestId: requestIdNow() })
    .catch((error: unknown) => logFailure("could not wake the object of a rebuild", error, { buildId: rebuild.id }));
  return rebuild;
}

async function enqueue({ env, db }: Services, first: Build, uid: string): Promise<Build> {
  if (first.status !== "finished" || first.imageKey === null) throw new Refusal("build_not_found");
  const slots = slotsOf(env, { isBackground: true });
  if (!(await hasFreeSlot(db, first.accountId, slots))) throw new Refusal("no_build_slots");
  const input = await findInput(env.BLOBS, first.inputSha256);
  if (!input) throw gone("The input of the build is no longer stored.");
  const blobs = blobsIn(input);
  await refuseIfGone(db, uploadsIn(input), blobs);
  await spendRebuild({ env, db }, first.accountId);
  const { accountId, applianceId, version, imageType, needsLvm, needsEfi, hasSecureBoot, packageType } = first;
  const { fileSystem, builderRoot, inputSha256 } = first;
  const needs = { needsLvm, needsEfi, hasSecureBoot, fileSystem, packageType, builderRoot };
  const kind = { isBackground: true, imageType, ...needs };
  const createdAt = new Date();
  const row = { uid, accountId, applianceId, version, inputSha256, downloadToken: newToken(), createdAt, ...kind };
  const added = await addRebuild(db, first, { ...row, wakeAt: wakeAfterStart(createdAt) }, slots);
  const rebuild = added ?? (await findUnfinishedRebuild(db, first.id));
  if (!rebuild) throw new Refusal("no_build_slots");
  // If this is interrupted, the first claim does it.
  await freezeBlobs(db, rebuild.id, blobs);
  return rebuild;
}

/**
 * Refuses a rebuild if some of its content is gone. An appliance's own files and packages are stored only while
 * something names them.
 */
async function refuseIfGone(db: Database, uploads: string[], blobs: string[]): Promise<void> {
  const files = blobs.filter((id) => !uploads.includes(id));
  const [rpms, contents] = await Promise.all([listUsedBlobIds(db, uploads), listNamedBlobs(db, files)]);
  if (uploads.some((id) => !rpms.has(id))) throw gone("A package that you uploaded for it was deleted.");
  if (files.some((id) => !contents.has(id))) throw gone("A file that you had added to the appliance was deleted.");
}

const gone = (why: string) => new Refusal("build_not_found", { message: `The build cannot be repeated. ${why}` });

/** Cancels the queued or running rebuild of a build. Repeating it is safe. */
export async function cancelRebuildOf({ env, db }: Services, accountId: number, buildId: number): Promise<void> {
  const first = await findBuild(db, accountId, buildId);
  if (!first) throw new Refusal("invalid_build_id", { reason: "unknown" });
  await stopRebuildOf({ env, db }, buildId);
}

/** Cancels the rebuild of a build that may already be gone. */
export async function stopRebuildOf({ env, db }: Services, buildId: number): Promise<void> {
  const rebuild = await findUnfinishedRebuild(db, buildId);
  if (rebuild) await buildObject(env, rebuild).cancel();
}

/** The rebuilds of a build that the account may read, newest first. */
export async function rebuildsOf(db: Database, reader: LinkReader, buildId: number): Promise<Build[]> {
  const { id } = await getBuild(db, reader, buildId);
  return await listRebuilds(db, [id]);
}
