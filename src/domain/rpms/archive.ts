import { quotaExceeded } from "#domain/accounts/quota";
import { isSolvers, withDecompressor } from "#domain/rpms/decompression";
import { type PackageFacts, packageNames, writeHeaders } from "#domain/rpms/headers";
import { type DebReader, debReaderOf, isSourcePackage, storePackage } from "#domain/rpms/package";
import type { StoredPackage } from "#model/stored-package";
import { type ArchivedPackage, archiveLimits, packagesOfArchive } from "#repodata/archive";
import { readDebPackage } from "#repodata/deb-package";
import type { Compression } from "#repodata/decompress";
import { putBlob } from "#storage/blob-writer";
import { archivedPackageKey, uploadKey } from "#storage/blobs";

export interface UnpackedArchive {
  packages: StoredPackage[];
  storedBytes: number;
}

/** Stores each package of an archive that is already in R2. Source packages are skipped: they cannot be installed. */
export async function unpackArchive(
  env: Env,
  blobId: string,
  { accountId, compression, roomBytes }: { accountId: number; compression: Compression; roomBytes: number },
): Promise<UnpackedArchive> {
  const archive = await env.BLOBS.get(uploadKey(blobId));
  if (!archive) throw new Error(`upload ${blobId} is gone`);
  return withDecompressor({ accountId, compression, what: "archive", limits: archiveLimits }, async (other) => {
    const unpacked: UnpackedArchive = { packages: [], storedBytes: 0 };
    // One turn is enough.
    const readDeb: DebReader = isSolvers(compression)
      ? (controlTar) => readDebPackage(controlTar, other)
      : debReaderOf(accountId);
    const packages = packagesOfArchive(archive.body, other);
    await writeHeaders(env.BLOBS, blobId, stored(env, { blobId, packages, readDeb, unpacked, roomBytes }));
    return unpacked;
  });
}

interface Unpacking {
  blobId: string;
  packages: AsyncIterable<ArchivedPackage>;
  readDeb: DebReader;
  /** Grows with every package. */
  unpacked: UnpackedArchive;
  roomBytes: number;
}

async function* stored(
  env: Env,
  { blobId, packages, readDeb, unpacked, roomBytes }: Unpacking,
): AsyncGenerator<PackageFacts> {
  for await (const { fileName, sizeBytes, stream } of packages) {
    if (unpacked.storedBytes + sizeBytes > roomBytes) throw quotaExceeded();
    const key = archivedPackageKey(blobId, unpacked.packages.length);
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
