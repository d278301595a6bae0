import type { Services } from "#domain/services";
import { contentKey } from "#storage/blobs";
import { findCheckRunOfTestdrive, listCheckRuns } from "#storage/check-runs";

/**
 * The screen that a check of this session compares with: that of the build's last run that has passed. Only builds of
 * the same account count. Undefined if there is none.
 */
export async function openReference(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  { testdriveUid, buildId }: { testdriveUid: string; buildId: number },
): Promise<R2ObjectBody | undefined> {
  const run = await findCheckRunOfTestdrive(db, testdriveUid);
  if (!run?.checks.some(({ kind, build }) => kind === "screen" && build === buildId)) return undefined;
  const earlier = await listCheckRuns(db, buildId);
  const blobId = earlier.find(
    ({ accountId, state, screenBlob }) => accountId === run.accountId && state === "passed" && screenBlob !== null,
  )?.screenBlob;
  return blobId ? ((await env.BLOBS.get(contentKey(blobId))) ?? undefined) : undefined;
}
