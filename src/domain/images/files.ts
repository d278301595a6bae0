import { FileIndex, unreadable, type StoredBlob } from "#domain/images/file-store";
import { fileAt, type EntryBefore } from "#domain/images/path";
import { refuseCopyOfSecret, refusingSecrets } from "#domain/images/secret-files";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { readAtMost } from "#lib/repodata/streams";
import { decompressed } from "#lib/repodata/decompress";
import { RepodataFault } from "#lib/repodata/fault";
import type { Appliance } from "#storage/appliances";
import { findBuild, type Build } from "#storage/builds";

export interface ImageFile {
  size: number;
  /** Different for each file content in each build. */
  tag: string;
  /** Opens the file's bytes. Their number may differ from `size`, because the store came from an agent. */
  open: () => Promise<ReadableStream<Uint8Array>>;
}

/**
 * The regular file at a path in a build's image. Follows links inside the image. Only the owner of the image can read
 * its secrets.
 */
export async function getImageFile(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  appliance: Pick<Appliance, "id" | "accountId">,
  { buildId, path, readerId }: { buildId: number; path: string; readerId: number },
): Promise<ImageFile> {
  const build = appliance.accountId === null ? undefined : await findBuild(db, appliance.accountId, buildId);
  if (build?.applianceId !== appliance.id) throw new Refusal("invalid_build_id");
  const { files, index } = storeOf(build);
  const entries = await FileIndex.open(env.BLOBS, index);
  const isOwner = build.accountId === readerId;
  const entryBefore: EntryBefore = (wanted) => entries.entryBefore(wanted);
  const file = await fileAt(path, isOwner ? entryBefore : refusingSecrets(entryBefore));
  if (!file) throw new Refusal("invalid_path");
  if (!isOwner) await refuseCopyOfSecret(entries, file);
  const { offset, length, size } = file;
  if (offset + length > files.size) throw unreadable(files, "a file is after its end");
  return { size, tag: `${build.id}-${offset}`, open: () => openFrame(env.BLOBS, files, { offset, length }) };
}

/**
 * The text of a system file in a build's image. Undefined if the image does not have the file, or if it is larger than
 * `maxBytes`.
 */
export async function findSystemText(
  env: Pick<Env, "BLOBS">,
  build: Build,
  { path, maxBytes }: { path: string; maxBytes: number },
): Promise<string | undefined> {
  if (build.filesKey === null) return undefined;
  const { files, index } = storeOf(build);
  const entries = await FileIndex.open(env.BLOBS, index);
  const file = await fileAt(
    path,
    refusingSecrets((wanted) => entries.entryBefore(wanted)),
  );
  if (!file || file.size > maxBytes || file.offset + file.length > files.size) return undefined;
  return new TextDecoder().decode(await readAtMost(await openFrame(env.BLOBS, files, file), maxBytes, path));
}

/** The file store of a build. Refused if the build is unfinished, has expired, or is older than file stores. */
function storeOf({ filesKey, filesSize, filesIndexKey, filesIndexSize }: Build): Record<"files" | "index", StoredBlob> {
  if (filesKey === null || filesSize === null || filesIndexKey === null || filesIndexSize === null) {
    throw new Refusal("raw_image_unavailable");
  }
  return { files: { key: filesKey, size: filesSize }, index: { key: filesIndexKey, size: filesIndexSize } };
}

async function openFrame(
  blobs: R2Bucket,
  files: StoredBlob,
  range: { offset: number; length: number },
): Promise<ReadableStream<Uint8Array>> {
  const frame = await blobs.get(files.key, { range });
  if (!frame) throw unreadable(files, "it is gone");
  return await decompressed(frame.body, (kind) => {
    throw new RepodataFault("unsupported_format", `${files.key} holds ${kind} instead of zstd`);
  });
}
