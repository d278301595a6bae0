import { leftBytes } from "#domain/accounts/quota";
import { capAt } from "#domain/contents/upload-limit";
import { Refusal } from "#domain/refusal";
import { unpackArchive } from "#domain/rpms/archive";
import { packageNames, writeHeaders } from "#domain/rpms/headers";
import type { StoredPackage } from "#model/stored-package";
import { compressionOf, type Compression } from "#repodata/decompress";
import { RepodataFault } from "#repodata/fault";
import { tapRpmHeader } from "#repodata/rpm-header-tap";
import { peek } from "#repodata/streams";
import { DecompressionRefused } from "#solver/decoder";
import type { Account } from "#storage/accounts";
import { measureBlob, putBlob, type StoredBlob } from "#storage/blob-writer";
import { uploadKey } from "#storage/blobs";
import type { Database } from "#storage/db";
import { removeUploadBlobs } from "#storage/upload-blobs";

/** An upload whose blobs are all there, and which no row names yet. */
export interface StagedUpload {
  blobId: string;
  fileName: string;
  size: number;
  md5: string;
  sha256: string;
  storedBytes: number;
  isArchive: boolean;
  nevra: string | null;
  packages: StoredPackage[];
}

/** A file on its way in. */
export interface IncomingFile {
  body: ReadableStream<Uint8Array>;
  /** What the client calls it. */
  fileName: string | undefined;
}

const tarBlockBytes = 512;

/** Where a file goes while its packages are read. */
interface Staging {
  env: Env;
  blobId: string;
  /** What the account still has room for, the file itself included. */
  roomBytes: number;
  /** Reads the file to its end, and stores it unless it is stored. */
  take: (file: ReadableStream<Uint8Array>) => Promise<StoredBlob>;
}

/**
 * Stores an RPM or a tarball of RPMs while it arrives; one that is refused, or cut off, leaves nothing behind.
 *
 * @param replacedBytes what the account gets back when this takes the place of another upload
 */
export async function stageUpload(
  env: Env,
  db: Database,
  { account, replacedBytes = 0 }: { account: Account; replacedBytes?: number },
  file: IncomingFile,
): Promise<StagedUpload> {
  const roomBytes = replacedBytes + (await leftBytes({ env, db }, account.id));
  const blobId = crypto.randomUUID();
  const take = (stream: ReadableStream<Uint8Array>) => putBlob(env.BLOBS, uploadKey(blobId), stream);
  const body = file.body.pipeThrough(capAt(env, { roomBytes, tooLarge }));
  try {
    return await stage({ env, blobId, roomBytes, take }, { ...file, body });
  } catch (error) {
    await removeUploadBlobs(env.BLOBS, blobId);
    throw asRefusal(error);
  }
}

/** Reads an RPM or a tarball of RPMs that is in R2 already; if it is refused, it stays there. */
export async function stageStoredUpload(
  env: Env,
  { blobId, fileName, roomBytes }: { blobId: string; fileName: string | undefined; roomBytes: number },
): Promise<StagedUpload> {
  const stored = await env.BLOBS.get(uploadKey(blobId));
  if (!stored) throw new Error(`upload ${blobId} is gone`);
  try {
    return await stage({ env, blobId, roomBytes, take: measureBlob }, { body: stored.body, fileName });
  } catch (error) {
    throw asRefusal(error);
  }
}

/** Deletes the blobs of an upload that no row will name. */
export const discardUpload = (env: Env, { blobId }: StagedUpload): Promise<void> =>
  removeUploadBlobs(env.BLOBS, blobId);

async function stage(staging: Staging, { body, fileName }: IncomingFile): Promise<StagedUpload> {
  const { start, stream } = await peek(body, tarBlockBytes);
  const incoming = { body: stream, fileName: plainName(fileName) };
  return isRpm(start)
    ? await stageRpm(staging, incoming)
    : await stageArchive(staging, { ...incoming, compression: tarCompression(start) });
}

async function stageRpm({ env, blobId, take }: Staging, file: IncomingFile): Promise<StagedUpload> {
  const { stream, header } = tapRpmHeader(file.body);
  const stored = await take(stream);
  const found = await header;
  if (found.isSource) {
    throw new Refusal("invalid_file", { message: "This is a source package. Upload the RPM that was built from it." });
  }
  const { nevra, fileName } = packageNames(found);
  await writeHeaders(env.BLOBS, blobId, [{ header: found, sha256: stored.sha256, fileBytes: stored.size }]);
  return {
    ...stored,
    blobId,
    fileName: file.fileName ?? fileName,
    storedBytes: stored.size,
    isArchive: false,
    nevra,
    packages: [{ nevra, fileName }],
  };
}

async function stageArchive(
  { env, blobId, roomBytes, take }: Staging,
  file: IncomingFile & { compression: Compression },
): Promise<StagedUpload> {
  const stored = await take(file.body);
  const { packages, storedBytes } = await unpackArchive(env, blobId, {
    compression: file.compression,
    roomBytes: roomBytes - stored.size,
  });
  if (packages.length === 0) {
    throw new Refusal("invalid_file", { message: "There is no RPM to install in this archive." });
  }
  return {
    ...stored,
    blobId,
    fileName: file.fileName ?? `packages.tar${extensions[file.compression]}`,
    storedBytes: stored.size + storedBytes,
    isArchive: true,
    nevra: null,
    packages,
  };
}

const extensions: Record<Compression, string> = { none: "", gzip: ".gz", bzip2: ".bz2", xz: ".xz", zstd: ".zst" };

const isRpm = (start: Uint8Array): boolean => [0xed, 0xab, 0xee, 0xdb].every((byte, index) => start[index] === byte);

/** Refuses what is neither a tarball nor compressed before the rest of it is stored. */
function tarCompression(start: Uint8Array): Compression {
  const compression = compressionOf(start);
  const isTar = new TextDecoder("latin1").decode(start.subarray(257, 262)) === "ustar";
  if (compression === "none" && !isTar) throw new Refusal("invalid_file");
  return compression;
}

/** The last segment of the client's name, fit for a header and a shell; undefined when nothing of it is. */
function plainName(fileName: string | undefined): string | undefined {
  const last = (fileName ?? "").replace(/^.*[/\\]/s, "").replace(/[^A-Za-z0-9._+~^@-]+/g, "_");
  const plain = last.replace(/^[.~_-]+/, "").slice(-255);
  return plain === "" ? undefined : plain;
}

export const tooLarge = (largestMb: number) =>
  new Refusal("invalid_file", {
    message: `The file is too large: this service takes uploads of up to ${largestMb} MiB.`,
  });

function asRefusal(error: unknown): unknown {
  if (error instanceof RepodataFault || error instanceof DecompressionRefused) {
    return new Refusal("invalid_file", {
      message: `Only RPMs and tarballs of RPMs may be uploaded: ${error.message}.`,
    });
  }
  return error;
}
