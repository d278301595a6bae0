import { hexDigest, verified } from "./checksum.ts";
import { type OtherDecompressor, decompressed } from "./decompress.ts";
import { type DebRequest, openDeb } from "./deb.ts";
import { RepodataFault } from "./fault.ts";
import { type InflationLimits, atMost, inflationGuard, metadataInflation } from "./limits.ts";
import type { Download, OpenedRepository, RepositoryPart } from "./opened-repository.ts";
import { maxRepomdBytes, pickPart, readRepomd } from "./repomd.ts";
import {
  maxKeyBytes,
  maxSignatureBytes,
  signingKeysOf,
  verifySigner,
  type Signer,
  type SigningKey,
} from "./signature.ts";
import { readAtMost } from "./streams.ts";
import {
  type Content,
  englishFile,
  maxContentBytes,
  maxPatternListBytes,
  mergedPatternsFile,
  packagesFile,
  patternFiles,
  patternList,
  readContent,
} from "./susetags.ts";

/** Largest compressed file of metadata; the largest distributions have 30 MB. */
const maxCompressedBytes = 256 * 2 ** 20;

/** Reads the index of a repository, rpm-md, the older yast2 or deb, and its signature. */
export async function openRepository(download: Download, deb: DebRequest = anyDeb): Promise<OpenedRepository> {
  const repomd = await indexFile(download, "repodata/repomd.xml", maxRepomdBytes);
  if (repomd) return openRpmMd(repomd, download);
  const content = await indexFile(download, "content", maxContentBytes);
  if (content) return openYast2(content, download);
  const opened = await openDeb(download, deb);
  if (opened) return opened;
  throw new RepodataFault("not_a_repository", "found neither repodata/repomd.xml nor content nor InRelease");
}

const anyDeb: DebRequest = { keys: [], ownersKeys: [], acceptsExpired: false, components: [], only: [], arches: [] };

/** Every large file of the repository that an import reads. */
export const partsOf = ({ packages, descriptions, patterns, updateinfo }: OpenedRepository): RepositoryPart[] =>
  [...packages, descriptions, ...patterns, updateinfo].filter((part) => part !== undefined);

/** Fetches a file of metadata as it is. Checks its size and checksum while it streams. */
export async function fetchPart(
  { path, checksum, sizeBytes = maxCompressedBytes }: RepositoryPart,
  download: Download,
  maxBytes = maxCompressedBytes,
): Promise<ReadableStream<Uint8Array>> {
  if (sizeBytes > maxCompressedBytes) throw tooLarge(path, sizeBytes, maxCompressedBytes);
  const body = await download(path);
  if (!body) throw missingFile(path);
  return body.pipeThrough(atMost(Math.min(sizeBytes, maxBytes), path)).pipeThrough(verified(checksum, path));
}

/**
 * Fetches and decompresses a file of metadata. While it streams, checks size, checksum and compression ratio of the
 * file, and size and checksum of the output. Some faults appear only at the end, so store nothing before the stream has
 * ended.
 */
export async function openPart(
  part: RepositoryPart,
  download: Download,
  other: OtherDecompressor,
  limits: InflationLimits = metadataInflation,
): Promise<ReadableStream<Uint8Array>> {
  const { path, openBytes = limits.maxBytes, openChecksum } = part;
  if (openBytes > limits.maxBytes) throw tooLarge(path, openBytes, limits.maxBytes);
  const guard = inflationGuard({ ...limits, maxBytes: openBytes }, path);
  const compressed = (await fetchPart(part, download)).pipeThrough(guard.compressed);
  const opened = (await decompressed(compressed, other)).pipeThrough(guard.opened);
  return openChecksum ? opened.pipeThrough(verified(openChecksum, `${path}, opened`)) : opened;
}

const tooLarge = (path: string, bytes: number, maxBytes: number) =>
  new RepodataFault("too_large", `${path} should have ${bytes} bytes, more than ${maxBytes}`);

const missingFile = (path: string) =>
  new RepodataFault("malformed_metadata", `the index lists ${path}, which does not exist`);

interface IndexFile {
  bytes: Uint8Array;
  signer: Signer | undefined;
  keys: SigningKey[];
}

async function indexFile(download: Download, path: string, maxBytes: number): Promise<IndexFile | undefined> {
  const body = await download(path);
  if (!body) return undefined;
  const bytes = await readAtMost(body, maxBytes, path);
  const [signature, key] = await Promise.all([
    small(download, `${path}.asc`, maxSignatureBytes),
    small(download, `${path}.key`, maxKeyBytes),
  ]);
  // A signature without a key proves nothing, nor does a key without a signature.
  if (!signature || !key) return { bytes, signer: undefined, keys: [] };
  return { bytes, signer: await verifySigner(bytes, signature, key), keys: await signingKeysOf(key) };
}

async function small(download: Download, path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  const body = await download(path);
  return body && readAtMost(body, maxBytes, path);
}

async function openRpmMd({ bytes, signer, keys }: IndexFile, download: Download): Promise<OpenedRepository> {
  const { parts, distributions, content } = readRepomd(bytes);
  const packages = pickPart(parts, "primary");
  if (!packages)
    throw new RepodataFault("malformed_metadata", "repomd.xml lists no primary.xml in a supported compression");
  const updateinfo = pickPart(parts, "updateinfo");
  return {
    type: "rpm-md",
    revision: hexDigest("sha256", bytes),
    signer,
    keys: signer ? [...keys, ...(await hintedKeys(content, (path) => small(download, path, maxKeyBytes)))] : [],
    distributions,
    packages: [packages],
    packagesFolder: "",
    patterns: [], // packages provide them
    ...(updateinfo && { updateinfo }),
  };
}

async function openYast2({ bytes, signer, keys }: IndexFile, download: Download): Promise<OpenedRepository> {
  const content = readContent(bytes);
  const descriptions = englishFile(content);
  return {
    type: "yast2",
    revision: hexDigest("sha256", bytes),
    signer,
    keys,
    distributions: content.distributions,
    packages: [packagesFile(content)],
    packagesFolder: content.dataDirectory,
    ...(descriptions && { descriptions }),
    patterns: await yast2Patterns(content, download),
  };
}

async function yast2Patterns(content: Content, download: Download): Promise<RepositoryPart[]> {
  const merged = mergedPatternsFile(content);
  if (merged) return [merged];
  const list = patternList(content);
  if (!list) return [];
  const body = await download(list.path);
  if (!body) throw missingFile(list.path);
  const names = await readAtMost(body.pipeThrough(verified(list.checksum, list.path)), maxPatternListBytes, list.path);
  return patternFiles(content, names);
}

const maxHints = 8;

/**
 * Fetches the keys that a signed index names in addition to its signer's. openSUSE names such keys, because its
 * packages come from several vendors. Like libzypp, reads
 * `<tags><content>gpg-pubkey-39db7c82-5847eb1f.asc?fpr=22C07B…</content>` as a file at the repository's root. Uses only
 * the key with that fingerprint, and ignores a hint to a missing file.
 *
 * @param content the index's `<content>` words
 */
async function hintedKeys(
  content: readonly string[],
  fetchKey: (path: string) => Promise<Uint8Array | undefined>,
): Promise<SigningKey[]> {
  const hints = content.flatMap((word) => {
    const [, path, fingerprint] =
      /^(gpg-pubkey-[0-9a-f]{8}-[0-9a-f]{8}\.asc)\?fpr=([0-9a-f]{40,64})$/i.exec(word) ?? [];
    return path && fingerprint ? [{ path, fingerprint: fingerprint.toLowerCase() }] : [];
  });
  const found = await Promise.all(
    hints.slice(0, maxHints).map(async ({ path, fingerprint }) => {
      const keys = await keysOf(await fetchKey(path));
      return keys.filter((key) => key.fingerprint === fingerprint);
    }),
  );
  return found.flat();
}

async function keysOf(bytes: Uint8Array | undefined): Promise<SigningKey[]> {
  if (!bytes) return [];
  return await signingKeysOf(bytes).catch((error: unknown) => {
    if (error instanceof RepodataFault) return [];
    throw error;
  });
}
