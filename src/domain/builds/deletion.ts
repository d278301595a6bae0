import { buildObject } from "#domain/builds/build";
import { stopRebuildOf } from "#domain/builds/rebuild";
import { Refusal } from "#domain/refusal";
import type { Services } from "#domain/services";
import { logFailure } from "#log/log";
import { buildPrefix } from "#storage/blobs";
import { deleteBlobsBelow } from "#storage/build-blobs";
import { listNamedFileStores } from "#storage/file-stores";
import { deleteBuildRow, findReadableBuild, isUnfinished, type Build } from "#storage/builds";
import type { Database } from "#storage/db";

/**
 * Removes a build that has ended. The row is removed first, so that nothing points to deleted blobs. The sweep removes
 * leftovers.
 */
export async function deleteBuild({ env, db }: Services, accountId: number, id: number): Promise<void> {
  const gone = await deleteBuildRow(db, accountId, id);
  if (!gone) throw await whyNotDeleted(db, accountId, id);
  // If this fails, the rebuild continues until the sweep removes it.
  await stopRebuildOf({ env, db }, id).catch((error: unknown) =>
    logFailure("could not cancel the rebuild of a build", error, { buildId: id }),
  );
  await forgetBuild({ env, db }, gone).catch((error: unknown) =>
    logFailure("could not delete what is left of a build", error, { buildId: id }),
  );
}

async function whyNotDeleted(db: Database, accountId: number, id: number): Promise<Refusal> {
  const build = await findReadableBuild(db, accountId, id);
  if (!build || isUnfinished(build)) return new Refusal("invalid_build_id", { reason: "unknown" });
  return new Refusal(build.accountId === accountId ? "cannot_delete_published_build" : "access_denied");
}

/**
 * Removes everything that is stored for a build whose row is gone. A file store that other formats share stays until the
 * sweep finds that no row names it.
 */
export async function forgetBuild({ env, db }: Services, build: Pick<Build, "uid">): Promise<void> {
  await buildObject(env, build).forget();
  await deleteBlobsBelow(env.BLOBS, buildPrefix(build.uid), (keys) => listNamedFileStores(db, keys));
}
