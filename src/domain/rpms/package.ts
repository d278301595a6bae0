import type { PackageType } from "#lib/contract/index";
import { withDecompressor } from "#domain/rpms/decompression";
import type { PackageFacts } from "#domain/rpms/headers";
import { tapControlTar } from "#lib/repodata/deb-archive";
import { type DebPackage, readDebPackage } from "#lib/repodata/deb-package";
import { compressionOf } from "#lib/repodata/decompress";
import { tapRpmHeader } from "#lib/repodata/rpm-header-tap";
import type { StoredBlob } from "#storage/blob-writer";

/** Reads the control.tar of a Debian package. */
export type DebReader = (controlTar: Uint8Array) => Promise<DebPackage>;

const controlTarLimits = { maxBytes: 64 * 2 ** 20, maxRatio: 200 };

/** Waits for the account's turn if the control.tar is compressed with xz, as most are. */
export const debReaderOf =
  (accountId: number): DebReader =>
  (controlTar) =>
    withDecompressor(
      { accountId, compression: compressionOf(controlTar), what: "package", limits: controlTarLimits },
      (other) => readDebPackage(controlTar, other),
    );

/** Stores a package while reading it. */
export async function storePackage(
  type: PackageType,
  body: ReadableStream<Uint8Array>,
  store: (bytes: ReadableStream<Uint8Array>) => Promise<StoredBlob>,
  readDeb: DebReader,
): Promise<StoredBlob & { facts: PackageFacts }> {
  const { stream, read } = tapped(type, body, readDeb);
  const stored = await store(stream);
  return { ...stored, facts: { ...(await read()), sha256: stored.sha256, fileBytes: stored.size } };
}

function tapped(type: PackageType, body: ReadableStream<Uint8Array>, readDeb: DebReader) {
  if (type === "rpm") {
    const { stream, header } = tapRpmHeader(body);
    return { stream, read: async () => ({ header: await header }) };
  }
  const { stream, found } = tapControlTar(body);
  return { stream, read: async () => ({ deb: await readDeb(await found) }) };
}

/** Whether it is a source package, which cannot be installed. */
export const isSourcePackage = (facts: PackageFacts): boolean => "header" in facts && facts.header.isSource;
