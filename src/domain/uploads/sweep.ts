import type { Services } from "#domain/services";
import { nextOldKeys, removeBlobs } from "#domain/old-keys";
import { deleteUpload } from "#domain/uploads/upload";
import { logFailure } from "#log/log";
import { blobIdOfKey, tailsPrefix } from "#storage/blobs";
import { listBlobsOfUploads, listExpiredUploads } from "#storage/resumable-uploads";

const uploadsPerRun = 50;

/** Removes uploads that have received nothing for a day. */
export async function removeExpiredUploads({ env, db }: Services, now: number): Promise<void> {
  for (const upload of await listExpiredUploads(db, new Date(now), uploadsPerRun)) {
    await deleteUpload({ env, db }, upload).catch((error: unknown) =>
      logFailure("could not delete an expired upload", error, { upload: upload.id }),
    );
  }
}

/** Removes the last bytes of uploads that no longer exist. A request stored them while its upload was being removed. */
export async function removeStrayTails({ env, db }: Services, now: number): Promise<void> {
  const old = await nextOldKeys({ env, db }, { prefix: tailsPrefix, now });
  const named = await listBlobsOfUploads(db, old.map(blobIdOfKey));
  await removeBlobs(
    env,
    old.filter((key) => !named.has(blobIdOfKey(key))),
  );
}
