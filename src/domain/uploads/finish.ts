import { makeOnce } from "#domain/accounts/idempotency";
import { withRoom } from "#domain/accounts/room";
import { addFile } from "#domain/contents/overlay-file-content";
import type { OutsideEnv } from "#domain/outside";
import { Refusal } from "#domain/refusal";
import { stageStoredUpload } from "#domain/rpms/staging";
import { addUpload, findUpload } from "#domain/rpms/upload";
import { expiryOf } from "#domain/uploads/lease";
import type { Received } from "#domain/uploads/received";
import type { Account } from "#storage/accounts";
import { measureBlob } from "#storage/blob-writer";
import type { Database } from "#storage/db";
import { findOverlayFileOfRequest } from "#storage/overlay-files";
import { completeBlob, deleteBlob, deleteTails, readBlob } from "#storage/resumable-blobs";
import { deleteResumableUpload, finishUpload, type ResumableUpload } from "#storage/resumable-uploads";

/** A request that writes to an upload of its account. */
export interface Writing {
  env: Env & OutsideEnv;
  db: Database;
  account: Account;
}

/**
 * Turns a complete upload into a file or a package, by the same rules as for an upload in a single request. If that is
 * refused, the upload is removed. If it is interrupted, the client sends the last bytes again, and this continues.
 */
export async function finish(writing: Writing, upload: ResumableUpload, received: Received): Promise<void> {
  const { env, db } = writing;
  await completeBlob(env.BLOBS, upload, { parts: received.parts, last: received.rest });
  received[Symbol.dispose]();
  try {
    const madeId = await (upload.applianceId === null ? makePackage : makeFile)(writing, upload);
    const now = Date.now();
    await finishUpload(db, upload, { madeId, finishedAt: new Date(now), expiresAt: expiryOf(now) });
  } catch (error) {
    if (error instanceof Refusal) await forget(writing, upload);
    throw error;
  }
  await deleteTails(env.BLOBS, upload);
}

async function forget({ env, db }: Writing, upload: ResumableUpload): Promise<void> {
  await deleteBlob(env.BLOBS, upload);
  await deleteTails(env.BLOBS, upload);
  await deleteResumableUpload(db, upload.id);
}

/** The blob's id is the request id, so that a second attempt finds what the first one has created. */
async function makeFile({ env, db, account }: Writing, upload: ResumableUpload): Promise<number> {
  const { applianceId, metadata, blobId, sentName } = upload;
  if (applianceId === null || metadata === null) throw new Error(`upload ${upload.id} is not for an overlay file`);
  const target = { env, db, accountId: account.id, requestId: blobId };
  const file = await makeOnce(blobId, {
    find: (requestId) => findOverlayFileOfRequest(db, requestId),
    make: async () => {
      const content = await measureBlob(readBlob(env.BLOBS, upload));
      return await addFile(target, applianceId, metadata, { ...content, blobId, sentName: sentName ?? undefined });
    },
  });
  return file.id;
}

async function makePackage({ env, db, account }: Writing, upload: ResumableUpload): Promise<number> {
  const { baseSystem, blobId, sentName } = upload;
  const accountId = account.id;
  if (baseSystem === null) throw new Error(`upload ${upload.id} is not for a base system`);
  const rpm = await makeOnce(blobId, {
    find: (requestId) => findUpload({ env, db }, { account, requestId }),
    make: () =>
      withRoom({ env, db }, { accountId, blobId }, async (room) => {
        const staged = await stageStoredUpload(env, { accountId, room, fileName: sentName ?? undefined });
        return await addUpload({ env, db }, { account, baseSystem, requestId: blobId }, staged);
      }),
  });
  return rpm.id;
}
