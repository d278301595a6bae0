import { makeOnce } from "#domain/accounts/idempotency";
import { limitsOf, refuseOverLimit, type LimitsEnv } from "#domain/accounts/limits";
import { quotaBytes, quotaExceeded } from "#domain/accounts/quota";
import { getOwnAppliance } from "#domain/appliances/appliance";
import { limitOf } from "#domain/contents/overlay-file-content";
import type { FileMetadata } from "#domain/contents/overlay-file-metadata";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { checkBaseSystem } from "#domain/rpms/upload";
import { expiryOf, withLease } from "#domain/uploads/lease";
import type { Database } from "#storage/db";
import { closeBlob, discardBlob, openBlob } from "#storage/resumable-blobs";
import {
  addResumableUpload,
  deleteResumableUpload,
  findResumableUpload,
  findResumableUploadOfRequest,
  type ResumableUpload,
} from "#storage/resumable-uploads";

type Stores = Services<LimitsEnv & Pick<Env, "BLOBS" | "ACCOUNT_QUOTA_GB" | "MAX_FILE_MB">>;

/** The target of the uploaded file: an overlay file, or a package. */
export type Purpose = { applianceId: number; metadata: FileMetadata } | { baseSystem: string };

/** A file that will be uploaded in several requests. */
export interface Announced {
  accountId: number;
  purpose: Purpose;
  length: number;
  /** The file's name on the client. */
  sentName: string | undefined;
  /** The id of a request that may be repeated. */
  requestId: string | undefined;
}

/** Begins an upload. Its whole length counts towards the quota from now on. */
export async function beginUpload(stores: Stores, announced: Announced): Promise<ResumableUpload> {
  const { env, db } = stores;
  const { accountId, purpose, length, requestId } = announced;
  const largestMb = Number(env.MAX_FILE_MB);
  if (length > largestMb * 2 ** 20) throw tooLarge(largestMb);
  if ("applianceId" in purpose) await getOwnAppliance(db, accountId, purpose.applianceId, "invalid");
  else await checkBaseSystem(db, purpose.baseSystem);
  return await makeOnce(requestId, {
    find: (requestId) => findResumableUploadOfRequest(db, requestId),
    make: () => addUpload(stores, announced),
  });
}

async function addUpload(
  { env, db }: Stores,
  { accountId, purpose, length, sentName, requestId }: Announced,
): Promise<ResumableUpload> {
  const kind = "applianceId" in purpose ? "files" : "uploadedPackages";
  await refuseOverLimit({ env, db }, accountId, { uploads: 1, [kind]: 1 });
  const now = Date.now();
  const target = { blobId: crypto.randomUUID(), applianceId: null, baseSystem: null, metadata: null, ...purpose };
  const multipartId = await openBlob(env.BLOBS, target);
  const times = { createdAt: new Date(now), expiresAt: expiryOf(now) };
  const row = { ...target, ...times, accountId, length, multipartId, sentName: sentName ?? null };
  const quota = { most: limitsOf(env).uploads, quotaBytes: await quotaBytes({ env, db }, accountId) };
  const added = await addResumableUpload(db, { ...row, ...(requestId && { requestId }) }, quota);
  if (added) return added;
  await closeBlob(env.BLOBS, target, multipartId);
  await refuseOverLimit({ env, db }, accountId, { uploads: 1 }); // another request may have been faster
  throw quotaExceeded();
}

/** An upload of this account. Any other upload is reported as unknown. */
export async function getResumableUpload(db: Database, accountId: number, id: number): Promise<ResumableUpload> {
  const upload = await findResumableUpload(db, accountId, id);
  if (!upload || upload.expiresAt.getTime() <= Date.now()) throw noSuchUpload();
  return upload;
}

/** Ends an upload. If it has already become a file or a package, that stays. */
export async function deleteUpload(stores: Pick<Stores, "db"> & { env: Pick<Env, "BLOBS"> }, upload: ResumableUpload) {
  await withLease(stores.db, upload, (held) => removeUpload(stores, held));
}

/** Removes an upload, and its bytes unless they have become a file or a package. Repeating it is safe. */
export async function removeUpload({ env, db }: Services<Pick<Env, "BLOBS">>, upload: ResumableUpload): Promise<void> {
  await discardBlob(env.BLOBS, upload);
  await deleteResumableUpload(db, upload.id);
}

/** The refusal for an unknown id, and for text that is not a valid id. */
export const noSuchUpload = () =>
  new Refusal("unknown_error", { reason: "unknown", message: "There is no such upload, or it has expired." });

const tooLarge = (largestMb: number) =>
  new Refusal("unknown_error", { reason: "too_large", message: limitOf(largestMb) });
