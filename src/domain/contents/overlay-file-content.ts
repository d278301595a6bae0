import { limitsOf, refuseOverLimit } from "#domain/accounts/limits";
import { spend } from "#domain/accounts/rates";
import { getOwnAppliance } from "#domain/appliances/appliance";
import { DownloadFailed, type OutsideEnv } from "#domain/outside";
import { getOwnFile } from "#domain/contents/overlay-file";
import type { FileMetadata } from "#domain/contents/overlay-file-metadata";
import { quotaBytes, quotaExceeded } from "#domain/accounts/quota";
import { withRoom } from "#domain/accounts/room";
import { Refusal } from "#domain/refusal";
import { discardOnRefusal } from "#domain/discard-on-refusal";
import { capAt } from "#domain/contents/upload-limit";
import type { IncomingFile } from "#domain/contents/incoming-file";
import { openWebFile } from "#domain/contents/web-upload";
import { putBlob } from "#storage/blob-writer";
import { contentKey } from "#storage/blobs";
import type { Database } from "#storage/db";
import { addOverlayFile, replaceContent, type FileContent, type OverlayFile } from "#storage/overlay-files";
import { endReservation } from "#storage/reservations";

/** The account and the appliance that get the files. */
export interface FileTarget {
  env: Env & OutsideEnv;
  db: Database;
  accountId: number;
  /** The id of a request that may be repeated. */
  requestId?: string | undefined;
}

/**
 * The refusal for a file that is too large. It differs between direct uploads, for which the specification has no code,
 * and downloads.
 */
type TooLarge = (largestMb: number) => Refusal;

export const uploadTooLarge: TooLarge = (largestMb) => new Refusal("unknown_error", { message: limitOf(largestMb) });
const downloadTooLarge: TooLarge = (largestMb) => new Refusal("download_error", { message: limitOf(largestMb) });
export const limitOf = (largestMb: number) =>
  `The file is too large: this service takes files of up to ${largestMb} MiB.`;

/** A file whose content is stored, but which no row names yet. */
export interface StagedFile extends FileContent {
  /** The file's name on the client. */
  sentName: string | undefined;
}

/**
 * Stores a file's content while it arrives. If the file is refused or cut off, nothing remains stored.
 *
 * @param replaced the file whose content is replaced
 */
export async function stageContent(
  { env, db, accountId }: FileTarget,
  { body, fileName, expectedBytes }: IncomingFile,
  { replaced, tooLarge = uploadTooLarge }: { replaced?: OverlayFile | undefined; tooLarge?: TooLarge } = {},
): Promise<StagedFile> {
  return await withRoom({ env, db }, { accountId, replacedBytes: replaced?.size, expectedBytes }, async (room) => {
    const { blobId } = room;
    const stored = await putBlob(env.BLOBS, contentKey(blobId), body.pipeThrough(capAt(env, { room, tooLarge })));
    return { blobId, ...stored, sentName: fileName };
  });
}

/** Deletes stored content that no row will name. */
export async function discardContent({ env, db }: FileTarget, staged: FileContent | undefined): Promise<void> {
  if (!staged) return;
  await env.BLOBS.delete(contentKey(staged.blobId));
  await endReservation(db, staged.blobId);
}

/** Adds a file with staged content to an appliance. */
export async function addFile(
  { env, db, accountId, requestId }: FileTarget,
  applianceId: number,
  metadata: FileMetadata,
  staged: StagedFile,
): Promise<OverlayFile> {
  const row = {
    ...metadata,
    ...contentOf(staged),
    applianceId,
    createdAt: new Date(),
    ...(requestId && { requestId }),
  };
  const writer = { accountId, quotaBytes: await quotaBytes({ env, db }, accountId), most: limitsOf(env).files };
  const added = await addOverlayFile(db, row, writer);
  if (added) return added;
  await getOwnAppliance(db, accountId, applianceId, "invalid"); // or the appliance was deleted in the meantime
  await refuseOverLimit({ env, db }, accountId, { files: 1 });
  throw quotaExceeded();
}

/** Downloads a file and adds it. The row is written once the whole file is stored. */
export async function addWebFile(
  target: FileTarget,
  applianceId: number,
  metadata: FileMetadata,
  url: URL,
): Promise<OverlayFile> {
  await spend(target, target.accountId, "web_files");
  const staged = await stageDownload(target, url);
  return await discardOnRefusal(
    () => discardContent(target, staged),
    () => addFile(target, applianceId, metadata, staged),
  );
}

async function stageDownload(target: FileTarget, url: URL): Promise<StagedFile> {
  try {
    const largestMb = Number(target.env.MAX_UPLOAD_MB);
    const { body, announcedBytes } = await openWebFile(target.env, url);
    if (announcedBytes > largestMb * 2 ** 20) {
      await body.cancel();
      throw downloadTooLarge(largestMb);
    }
    return await stageContent(
      target,
      { body, fileName: undefined, expectedBytes: announcedBytes },
      { tooLarge: downloadTooLarge },
    );
  } catch (error) {
    if (error instanceof DownloadFailed) throw new Refusal("download_error", { message: error.message });
    throw error;
  }
}

/** Replaces the content of a file with staged content. */
export async function replaceFile(
  { env, db, accountId }: FileTarget,
  file: OverlayFile,
  staged: StagedFile,
): Promise<OverlayFile> {
  const writer = { accountId, quotaBytes: await quotaBytes({ env, db }, accountId) };
  const replaced = await replaceContent(db, file, contentOf(staged), writer);
  if (replaced) return replaced;
  await getOwnFile(db, accountId, file.id); // or it was deleted in the meantime
  throw quotaExceeded();
}

const contentOf = ({ blobId, size, md5, sha256 }: FileContent): FileContent => ({ blobId, size, md5, sha256 });
