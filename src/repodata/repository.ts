import { hexDigest, verified } from "./checksum.ts";
import { type OtherDecompressor, decompressed } from "./decompress.ts";
import { RepodataFault } from "./fault.ts";
import { hintedKeys } from "./hinted-keys.ts";
import { type InflationLimits, atMost, inflationGuard, metadataInflation } from "./limits.ts";
import { type MetadataPart, longestRepomd, pickPart, readRepomd } from "./repomd.ts";
import {
  type Signer,
  type SigningKey,
  longestKey,
  longestSignature,
  signingKeysOf,
  verifySigner,
} from "./signature.ts";
import { readAtMost } from "./streams.ts";
import {
  type Content,
  englishFile,
  longestContent,
  longestPatternList,
  mergedPatternsFile,
  packagesFile,
  patternFiles,
  patternList,
  readContent,
} from "./susetags.ts";

/** Fetches a file of the repository; undefined: it is not there. Whoever makes it decides which addresses may be reached. */
export type Download = (path: string) => Promise<ReadableStream<Uint8Array> | undefined>;

/** A repository whose index has been read and checked; nothing large has been fetched yet. */
export interface OpenedRepository {
  type: "rpm-md" | "yast2";
  /** SHA-256 of the index: it names every other file by checksum, so it stands for the whole revision. */
  revision: string;
  /** Undefined: nobody signed it. */
  signer: Signer | undefined;
  /** The public keys beside the signature, the signer's among them, and those that the signed index names; else none. */
  keys: SigningKey[];
  /** CPE names and names of the distributions it says it is for. */
  distributions: { cpeId?: string; name: string }[];
  packages: RepositoryPart;
  /** Where the locations of packages begin, relative to the repository; empty: at its root. */
  packagesFolder: string;
  /** yast2 keeps summaries and descriptions apart, and patterns, one or many in a file. */
  descriptions?: RepositoryPart;
  patterns: RepositoryPart[];
  updateinfo?: RepositoryPart;
}

/** A large file of the repository, and what it must be. */
export type RepositoryPart = Pick<MetadataPart, "path" | "checksum" | "openChecksum" | "sizeBytes" | "openBytes">;

/** Largest compressed file of metadata; the largest distributions have 30 MB. */
const mostCompressedBytes = 256 * 2 ** 20;

/** Reads the index of a repository, rpm-md or the older yast2, and its signature. */
export async function openRepository(download: Download): Promise<OpenedRepository> {
  const repomd = await indexFile(download, "repodata/repomd.xml", longestRepomd);
  if (repomd) return openRpmMd(repomd, download);
  const content = await indexFile(download, "content", longestContent);
  if (content) return openYast2(content, download);
  throw new RepodataFault("not_a_repository", "neither repodata/repomd.xml nor content is there");
}

/** Every large file of the repository that an import reads. */
export const partsOf = ({ packages, descriptions, patterns, updateinfo }: OpenedRepository): RepositoryPart[] =>
  [packages, descriptions, ...patterns, updateinfo].filter((part) => part !== undefined);

/** A file of metadata as it comes; its size and checksum are checked while it streams. */
export async function fetchPart(
  { path, checksum, sizeBytes = mostCompressedBytes }: RepositoryPart,
  download: Download,
  mostBytes = mostCompressedBytes,
): Promise<ReadableStream<Uint8Array>> {
  if (sizeBytes > mostCompressedBytes) throw tooLarge(path, sizeBytes, mostCompressedBytes);
  const body = await download(path);
  if (!body) throw new RepodataFault("malformed_metadata", `${path} is announced and not there`);
  return body.pipeThrough(atMost(Math.min(sizeBytes, mostBytes), path)).pipeThrough(verified(checksum, path));
}

/**
 * A file of metadata, opened, and checked while it streams: size, checksum and inflation of what comes, size and checksum of
 * what it opens to. Some faults show only at the end; nothing made of it may be kept before the stream has ended well.
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

const tooLarge = (path: string, bytes: number, most: number) =>
  new RepodataFault("too_large", `${path} announces ${bytes} bytes, more than ${most}`);

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
    small(download, `${path}.asc`, longestSignature),
    small(download, `${path}.key`, longestKey),
  ]);
  // A signature without a key beside it proves nothing to us; a key without a signature neither.
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
  if (!packages) throw new RepodataFault("malformed_metadata", "repomd.xml names no primary.xml that we can read");
  const updateinfo = pickPart(parts, "updateinfo");
  return {
    type: "rpm-md",
    revision: hexDigest("sha256", bytes),
    signer,
    keys: signer ? [...keys, ...(await hintedKeys(content, (path) => small(download, path, longestKey)))] : [],
    distributions,
    packages,
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
    packages: packagesFile(content),
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
  if (!body) throw new RepodataFault("malformed_metadata", `${list.path} is announced and not there`);
  const names = await readAtMost(body.pipeThrough(verified(list.checksum, list.path)), longestPatternList, list.path);
  return patternFiles(content, names);
}
