import { type PackageType, versionRelease } from "#lib/contract/index";
import type { StoredPackage } from "#model/stored-package";
import type { DebPackage } from "#lib/repodata/deb-package";
import { type RpmHeader, rpmFileName } from "#lib/repodata/rpm-header";
import { BlobWriter } from "#storage/blob-writer";
import { uploadHeadersKey } from "#storage/blobs";

/** The facts about an uploaded package that the index of its repository needs. */
export type PackageFacts = RpmFacts | DebFacts;

export interface RpmFacts extends FileFacts {
  header: RpmHeader;
}

export interface DebFacts extends FileFacts {
  deb: DebPackage;
}

interface FileFacts {
  sha256: string;
  fileBytes: number;
}

/** The names of a package, as its row stores them. */
export function packageNames(facts: PackageFacts): StoredPackage {
  const { name, epoch, version, release, arch } = "deb" in facts ? facts.deb : facts.header;
  const nevra = `${name}-${epoch}:${versionRelease({ version, release })}.${arch}`;
  return { nevra, fileName: "deb" in facts ? debFileName(facts.deb) : rpmFileName(facts.header) };
}

/** Debian's name for the file. It omits the epoch. */
const debFileName = ({ name, version, release, arch }: DebPackage) =>
  `${name}_${versionRelease({ version, release })}_${arch}.deb`;

/** The type of a stored package, from the file name that this service gave it. */
export const packageTypeOf = ({ fileName }: StoredPackage): PackageType => (fileName.endsWith(".deb") ? "deb" : "rpm");

/** Stores headers in R2, one per line: file lists can be longer than a row of D1. */
export async function writeHeaders(
  blobs: R2Bucket,
  blobId: string,
  packages: Iterable<PackageFacts> | AsyncIterable<PackageFacts>,
): Promise<void> {
  const writer = new BlobWriter(blobs, uploadHeadersKey(blobId));
  try {
    for await (const one of packages) await writer.write(new TextEncoder().encode(`${JSON.stringify(one)}\n`));
    await writer.complete();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** The headers of an upload, in the order of its packages. Only one at a time is in memory. */
export async function* readHeaders(blobs: R2Bucket, blobId: string): AsyncGenerator<PackageFacts> {
  const blob = await blobs.get(uploadHeadersKey(blobId));
  if (!blob) return;
  let line: string[] = [];
  for await (const text of blob.body.pipeThrough(new TextDecoderStream())) {
    const [first = "", ...others] = text.split("\n");
    line.push(first);
    for (const next of others) {
      yield JSON.parse(line.join(""));
      line = [next];
    }
  }
}
