import { buildObject } from "#domain/builds/build";
import { Refusal } from "#domain/refusal";
import type { Services } from "#domain/services";
import { logFailure } from "#log/log";
import { buildPrefix } from "#storage/blobs";
import { deleteBlobsBelow } from "#storage/build-blobs";
import { deleteBuildRow, findReadableBuild, isUnfinished, type Build } from "#storage/builds";
import type { Database } from "#storage/db";
import { findUnfinishedRebuild } from "#storage/rebuilds";

/**
 * Removes a build that has ended. The row is removed first, so that nothing points to deleted blobs. The sweep finds
 * leftovers.
 */
export async function deleteBuild({ env, db }: Services, accountId: number, id: number): Promise<void> {
  const gone = await deleteBuildRow(db, accountId, id);
  if (!gone) throw await whyNotDeleted(db, accountId, id);
  await cancelRebuild({ env, db }, gone);
  await forgetBuild(env, gone).catch((error: unknown) =>
    logFailure("could not delete what is left of a build", error, { buildId: id }),
  );
}

/** Stops the rebuild of a build that was deleted. If this fails, it goes on in vain until the sweep removes it. */
async function cancelRebuild({ env, db }: Services, { id }: Pick<Build, "id">): Promise<void> {
  const rebuild = await findUnfinishedRebuild(db, id);
  if (!rebuild) return;
  await buildObject(env, rebuild)
    .cancel()
    .catch((error: unknown) => logFailure("could not cancel a rebuild", error, { buildId: rebuild.id }));
}

async function whyNotDeleted(db: Database, accountId: number, id: number): Promise<Refusal> {
  const build = await findReadableBuild(db, accountId, id);
  if (!build || isUnfinished(build)) return new Refusal("invalid_build_id", { reason: "unknown" });
  return new Refusal(build.accountId === accountId ? "cannot_delete_published_build" : "access_denied");
}

/** Removes everything that is stored for a build except its row. */
export async function forgetBuild(env: Env, build: Pick<Build, "uid">): Promise<void> {
  await buildObject(env, build).forget();
  await deleteBlobsBelow(env.BLOBS, buildPrefix(build.uid));
}
