import type { StoredPackage } from "#model/stored-package";
import { type RpmHeader, rpmFileName } from "#repodata/rpm-header";
import { BlobWriter } from "#storage/blob-writer";
import { uploadHeadersKey } from "#storage/blobs";

/** A package of an upload as the index of its repository needs it. */
export interface PackageFacts {
  header: RpmHeader;
  sha256: string;
  fileBytes: number;
}

/** How the row names a package. */
export function packageNames(header: RpmHeader): StoredPackage {
  const { name, epoch, version, release, arch } = header;
  return { nevra: `${name}-${epoch}:${version}-${release}.${arch}`, fileName: rpmFileName(header) };
}

/** Keeps headers in R2, a line each: file lists can be longer than a row of D1. */
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

/** The headers of an upload in the order of its packages; one at a time is in memory. */
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
