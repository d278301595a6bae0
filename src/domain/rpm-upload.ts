import { quotaBytes, quotaExceeded } from "#domain/quota";
import { Refusal } from "#domain/refusal";
import { getUpload } from "#domain/rpm";
import type { StagedUpload } from "#domain/rpm-staging";
import { publishUploads } from "#domain/user-repository";
import type { Account } from "#storage/accounts";
import type { Database } from "#storage/db";
import { addRpm, deleteRpm, replaceRpm, type NewRpm, type Rpm, type SavedRpm } from "#storage/rpms";
import { removeUploadBlobs } from "#storage/upload-blobs";

interface Owner {
  account: Account;
  baseSystem: string;
}

/**
 * Adds a staged upload to the account's user repository. An RPM of the same name, version and architecture as an earlier one
 * takes its place and its id: who builds a package again and uploads it means the new one.
 */
export async function addUpload(env: Env, db: Database, owner: Owner, staged: StagedUpload): Promise<Rpm> {
  const quota = quotaBytes(Number(env.ACCOUNT_QUOTA_GB));
  const saved = await addRpm(db, rowOf(owner, staged), quota);
  if (!saved) throw quotaExceeded();
  return await published(env, db, owner, saved);
}

/** Gives an upload of the account new content. */
export async function replaceUpload(
  env: Env,
  db: Database,
  { account, id, baseSystem }: Owner & { id: number },
  staged: StagedUpload,
): Promise<Rpm> {
  const owner = { account, baseSystem };
  const quota = quotaBytes(Number(env.ACCOUNT_QUOTA_GB));
  const saved = await replaceRpm(db, id, rowOf(owner, staged), quota);
  if (!saved) {
    await getUpload(db, account.id, id); // or it was deleted meanwhile
    throw quotaExceeded();
  }
  return await published(env, db, owner, saved);
}

/** Removes an upload, and its packages from the user repository, which stays even when it is empty. */
export async function deleteUpload(env: Env, db: Database, account: Account, id: number): Promise<void> {
  const gone = await deleteRpm(db, account.id, id);
  if (!gone) throw new Refusal("invalid_rpm_id", { in: "path" });
  await publishUploads(env, db, { account, baseSystem: gone.baseSystem });
  await removeUploadBlobs(env.BLOBS, gone.blobId);
}

/** The index first, then the blobs that no index names any more. */
async function published(env: Env, db: Database, owner: Owner, { rpm, replacedBlobIds }: SavedRpm): Promise<Rpm> {
  await publishUploads(env, db, owner);
  for (const blobId of replacedBlobIds) await removeUploadBlobs(env.BLOBS, blobId);
  return rpm;
}

const rowOf = ({ account, baseSystem }: Owner, staged: StagedUpload): NewRpm => ({
  ...staged,
  accountId: account.id,
  baseSystem,
  uploadedAt: new Date(),
});
