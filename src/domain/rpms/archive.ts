import type { Room } from "#domain/accounts/room";
import { isSolvers, withDecompressor } from "#domain/rpms/decompression";
import { type PackageFacts, packageNames, writeHeaders } from "#domain/rpms/headers";
import { type DebReader, debReaderOf, isSourcePackage, storePackage } from "#domain/rpms/package";
import type { StoredPackage } from "#model/stored-package";
import { type ArchivedPackage, archiveLimits, packagesOfArchive } from "#lib/repodata/archive";
import { readDebPackage } from "#lib/repodata/deb-package";
import type { Compression } from "#lib/repodata/decompress";
import { putBlob } from "#storage/blob-writer";
import { archivedPackageKey, uploadKey } from "#storage/blobs";

export interface UnpackedArchive {
  packages: StoredPackage[];
  storedBytes: number;
}

/** Stores each package of an archive that is already in R2. Source packages are skipped: they cannot be installed. */
export async function unpackArchive(
  env: Env,
  { accountId, compression, ...held }: { accountId: number; compression: Compression } & Held,
): Promise<UnpackedArchive> {
  const { blobId } = held.room;
  const archive = await env.BLOBS.get(uploadKey(blobId));
  if (!archive) throw new Error(`upload ${blobId} is gone`);
  return withDecompressor({ accountId, compression, what: "archive", limits: archiveLimits }, async (other) => {
    const unpacked: UnpackedArchive = { packages: [], storedBytes: 0 };
    // The archive's turn is enough for the packages inside it, too.
    const readDeb: DebReader = isSolvers(compression)
      ? (controlTar) => readDebPackage(controlTar, other)
      : debReaderOf(accountId);
    const packages = packagesOfArchive(archive.body, other);
    await writeHeaders(env.BLOBS, blobId, stored(env, { ...held, packages, readDeb, unpacked }));
    return unpacked;
  });
}

interface Held {
  room: Room;
  /** The part of the reservation that is for the archive itself. */
  archiveBytes: number;
}

interface Unpacking extends Held {
  packages: AsyncIterable<ArchivedPackage>;
  readDeb: DebReader;
  /** Grows with every package. */
  unpacked: UnpackedArchive;
}

async function* stored(
  env: Env,
  { room, archiveBytes, packages, readDeb, unpacked }: Unpacking,
): AsyncGenerator<PackageFacts> {
  for await (const { fileName, sizeBytes, stream } of packages) {
    await room.hold(archiveBytes + unpacked.storedBytes + sizeBytes);
    const key = archivedPackageKey(room.blobId, unpacked.packages.length);
    const type = fileName.endsWith(".deb") ? "deb" : "rpm";
    const { facts, size } = await storePackage(type, stream, (bytes) => putBlob(env.BLOBS, key, bytes), readDeb);
    if (isSourcePackage(facts)) {
      await env.BLOBS.delete(key);
      continue;
    }
    unpacked.packages.push(packageNames(facts));
    unpacked.storedBytes += size;
    yield facts;
  }
}
