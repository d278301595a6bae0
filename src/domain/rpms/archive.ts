import { quotaExceeded } from "#domain/accounts/quota";
import { type PackageFacts, packageNames, writeHeaders } from "#domain/rpms/headers";
import type { StoredPackage } from "#model/stored-package";
import { type ArchivedRpm, archiveLimits, rpmsOfArchive } from "#repodata/archive";
import type { Compression, OtherDecompressor } from "#repodata/decompress";
import { tapRpmHeader } from "#repodata/rpm-header-tap";
import { streamOf } from "#repodata/streams";
import { decompressed } from "#solver/decoder";
import { solverRoom } from "#solver/shared";
import type { Solver } from "#solver/solver";
import { putBlob } from "#storage/blob-writer";
import { archivedPackageKey, uploadKey } from "#storage/blobs";

export interface UnpackedArchive {
  packages: StoredPackage[];
  storedBytes: number;
}

/** `xz -9` needs 65 MiB for its dictionary. */
const dictionaryBytes = 66 * 2 ** 20;

/** Stores each RPM of an archive that is already in R2. Source packages are skipped: they cannot be installed. */
export async function unpackArchive(
  env: Env,
  blobId: string,
  { compression, roomBytes }: { compression: Compression; roomBytes: number },
): Promise<UnpackedArchive> {
  const archive = await env.BLOBS.get(uploadKey(blobId));
  if (!archive) throw new Error(`upload ${blobId} is gone`);
  const unpack = async (other: OtherDecompressor) => {
    const unpacked: UnpackedArchive = { packages: [], storedBytes: 0 };
    const rpms = rpmsOfArchive(archive.body, other);
    await writeHeaders(env.BLOBS, blobId, stored(env, { blobId, rpms, unpacked, roomBytes }));
    return unpacked;
  };
  if (compression !== "xz" && compression !== "bzip2") return unpack(noOther);
  return solverRoom.withEmptySolver((solver) => unpack(decompressorOf(solver)));
}

/** gzip and zstd the runtime opens by itself. */
const noOther: OtherDecompressor = (kind) => {
  throw new Error(`an archive turned into ${kind}`);
};

const decompressorOf =
  (solver: Solver): OtherDecompressor =>
  (kind, compressed) => {
    const { maxBytes, maxRatio } = archiveLimits;
    const decoder = solver.decoder(kind, { maxBytes, maxRatio, memoryBytes: dictionaryBytes });
    return streamOf(decompressed(decoder, compressed), () => compressed.cancel());
  };

interface Unpacking {
  blobId: string;
  rpms: AsyncIterable<ArchivedRpm>;
  /** Grows with every package. */
  unpacked: UnpackedArchive;
  roomBytes: number;
}

async function* stored(env: Env, { blobId, rpms, unpacked, roomBytes }: Unpacking): AsyncGenerator<PackageFacts> {
  for await (const rpm of rpms) {
    if (unpacked.storedBytes + rpm.sizeBytes > roomBytes) throw quotaExceeded();
    const key = archivedPackageKey(blobId, unpacked.packages.length);
    const { stream, header } = tapRpmHeader(rpm.stream);
    const { size, sha256 } = await putBlob(env.BLOBS, key, stream);
    const found = await header;
    if (found.isSource) {
      await env.BLOBS.delete(key);
      continue;
    }
    unpacked.packages.push(packageNames(found));
    unpacked.storedBytes += size;
    yield { header: found, sha256, fileBytes: size };
  }
}
