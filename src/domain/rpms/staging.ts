import type { IncomingFile } from "#domain/contents/incoming-file";
import type { Services } from "#domain/services";
import { withRoom, type Room } from "#domain/accounts/room";
import { capAt } from "#domain/contents/upload-limit";
import { Refusal } from "#domain/refusal";
import type { PackageType } from "#lib/contract/index";
import { unpackArchive } from "#domain/rpms/archive";
import { packageNames, writeHeaders } from "#domain/rpms/headers";
import { debReaderOf, isSourcePackage, storePackage } from "#domain/rpms/package";
import type { StoredPackage } from "#model/stored-package";
import { isDeb } from "#lib/repodata/deb-archive";
import { compressionOf, type Compression } from "#lib/repodata/decompress";
import { RepodataFault } from "#lib/repodata/fault";
import { peek } from "#lib/repodata/streams";
import { DecompressionRefused } from "#lib/solver/decoder";
import type { Account } from "#storage/accounts";
import { measureBlob, putBlob, type StoredBlob } from "#storage/blob-writer";
import { uploadKey } from "#storage/blobs";
import { endReservation } from "#storage/reservations";
import { removeUploadBlobs } from "#storage/upload-blobs";

/** An upload whose blobs are all stored, but which no row names yet. */
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

const tarBlockBytes = 512;

/** The state of a file while its packages are being read. */
interface Staging {
  env: Env;
  accountId: number;
  /** The reservation for the file and its packages. */
  room: Room;
  /** Reads the file to the end, and stores it unless it is already stored. */
  take: (file: ReadableStream<Uint8Array>) => Promise<StoredBlob>;
}

/**
 * Stores a package or a tarball of packages while it arrives. If it is refused or cut off, nothing remains stored.
 *
 * @param replacedBytes the size of the upload that it replaces
 */
export async function stageUpload(
  { env, db }: Services,
  { account, replacedBytes = 0 }: { account: Account; replacedBytes?: number },
  file: IncomingFile,
): Promise<StagedUpload> {
  const accountId = account.id;
  return await withRoom({ env, db }, { accountId, replacedBytes, expectedBytes: file.expectedBytes }, async (room) => {
    const take = (stream: ReadableStream<Uint8Array>) => putBlob(env.BLOBS, uploadKey(room.blobId), stream);
    const body = file.body.pipeThrough(capAt(env, { room, tooLarge }));
    try {
      return await stage({ env, accountId, room, take }, { ...file, body });
    } catch (error) {
      await removeUploadBlobs(env.BLOBS, room.blobId);
      throw asRefusal(error);
    }
  });
}

/** Reads a package or a tarball of packages that is already in R2. If it is refused, it stays there. */
export async function stageStoredUpload(
  env: Env,
  { fileName, ...stored }: { accountId: number; room: Room; fileName: string | undefined },
): Promise<StagedUpload> {
  const blob = await env.BLOBS.get(uploadKey(stored.room.blobId));
  if (!blob) throw new Error(`upload ${stored.room.blobId} is gone`);
  try {
    return await stage({ env, ...stored, take: measureBlob }, { body: blob.body, fileName });
  } catch (error) {
    throw asRefusal(error);
  }
}

/** Deletes the blobs of an upload that no row will name. */
export async function discardUpload({ env, db }: Services, { blobId }: StagedUpload): Promise<void> {
  await removeUploadBlobs(env.BLOBS, blobId);
  await endReservation(db, blobId);
}

async function stage(staging: Staging, { body, fileName }: IncomingFile): Promise<StagedUpload> {
  const { start, stream } = await peek(body, tarBlockBytes);
  const incoming = { body: stream, fileName: plainName(fileName) };
  if (isRpm(start)) return await stagePackage(staging, "rpm", incoming);
  if (isDeb(start)) return await stagePackage(staging, "deb", incoming);
  return await stageArchive(staging, { ...incoming, compression: tarCompression(start) });
}

async function stagePackage(
  { env, accountId, room: { blobId }, take }: Staging,
  type: PackageType,
  file: IncomingFile,
): Promise<StagedUpload> {
  const { facts, ...stored } = await storePackage(type, file.body, take, debReaderOf(accountId));
  if (isSourcePackage(facts)) {
    throw new Refusal("invalid_file", { message: "This is a source package. Upload the RPM that was built from it." });
  }
  const names = packageNames(facts);
  await writeHeaders(env.BLOBS, blobId, [facts]);
  return {
    ...stored,
    blobId,
    fileName: file.fileName ?? names.fileName,
    storedBytes: stored.size,
    isArchive: false,
    nevra: names.nevra,
    packages: [names],
  };
}

async function stageArchive(
  { env, accountId, room, take }: Staging,
  file: IncomingFile & { compression: Compression },
): Promise<StagedUpload> {
  const stored = await take(file.body);
  const { packages, storedBytes } = await unpackArchive(env, {
    accountId,
    compression: file.compression,
    room,
    archiveBytes: stored.size,
  });
  if (packages.length === 0) {
    throw new Refusal("invalid_file", { message: "This archive contains no package that can be installed." });
  }
  return {
    ...stored,
    blobId: room.blobId,
    fileName: file.fileName ?? `packages.tar${extensions[file.compression]}`,
    storedBytes: stored.size + storedBytes,
    isArchive: true,
    nevra: null,
    packages,
  };
}

const extensions: Record<Compression, string> = { none: "", gzip: ".gz", bzip2: ".bz2", xz: ".xz", zstd: ".zst" };

const isRpm = (start: Uint8Array): boolean => [0xed, 0xab, 0xee, 0xdb].every((byte, index) => start[index] === byte);

/** The compression of a tarball. Refuses a file that is neither a tarball nor compressed, before the rest is stored. */
function tarCompression(start: Uint8Array): Compression {
  const compression = compressionOf(start);
  const isTar = new TextDecoder("latin1").decode(start.subarray(257, 262)) === "ustar";
  if (compression === "none" && !isTar) throw new Refusal("invalid_file");
  return compression;
}

/** The last segment of the client's file name, made safe for headers and shells. Undefined if nothing is left. */
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
      message: `Only RPMs, Debian packages and tarballs of them may be uploaded: ${error.message}.`,
    });
  }
  return error;
}
