import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants } from "node:zlib";
import { blockSizes, eachHash, hashBytes, zeroHash, type Blocks } from "./blocks.ts";

/*
 * A delta makes the disk of an image from that of an earlier image:
 *
 *   one line of JSON         the header
 *   `hashes` bytes           the hashes of all blocks of the disk, in order, compressed by brotli
 *   the rest                 the blocks that the earlier disk lacks, in order, compressed by brotli
 *
 * A block whose hash is not that of zeros, and that no block of the earlier disk has, is in the rest. A delta without
 * `from` has no rest: it serves the delta of the next image, which needs only the hashes of this one.
 */

export interface DeltaHeader {
  format: typeof format;
  /** The disk that it makes. */
  disk: { size: number; sha256: string };
  /** The size of its blocks. */
  block: number;
  /** SHA-256 of the earlier disk. */
  from?: string;
  /** The compressed bytes of the hashes. */
  hashes: number;
}

const format = "kiln-delta-1";
/** The header is shorter. */
export const headerBytes = 1024;
/** The largest disk that a delta describes, so that its hashes fit into memory: they are 64 MiB. */
export const maxDiskBytes = (64 * 1024 ** 2 * 4096) / hashBytes;

/** The beginning of a delta: header and hashes. */
export async function deltaHead({ size, sha256, block, hashes }: Blocks, from: string | undefined): Promise<Buffer> {
  const compressed = await compress(hashes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  const header = {
    format,
    disk: { size, sha256 },
    block,
    ...(from !== undefined && { from }),
    hashes: compressed.length,
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), compressed]);
}

/** The header, and how many bytes it has. Undefined if this is not a delta of a known format. */
export function readHeader(start: Buffer): { header: DeltaHeader; bytes: number } | undefined {
  const end = start.subarray(0, headerBytes).indexOf("\n");
  try {
    const header: unknown = JSON.parse(start.toString("utf8", 0, Math.max(0, end)));
    return isHeader(header) ? { header, bytes: end + 1 } : undefined;
  } catch {
    return undefined;
  }
}

function isHeader(value: unknown): value is DeltaHeader {
  const { disk, block, from, hashes, ...rest } = (value ?? {}) as Partial<DeltaHeader>;
  return (
    rest.format === format &&
    blockSizes.includes(block ?? 0) &&
    isCount(hashes, maxDiskBytes) &&
    isCount(disk?.size, maxDiskBytes) &&
    isSha256(disk?.sha256) &&
    (from === undefined || isSha256(from))
  );
}

const isCount = (value: unknown, most: number): boolean =>
  Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= most;
const isSha256 = (value: unknown): boolean => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);

/** The hashes of a delta. Fails if they are not those of a disk of the header's size. */
export async function readHashes({ disk, block }: DeltaHeader, compressed: Buffer): Promise<Buffer> {
  const bytes = Math.ceil(disk.size / block) * hashBytes;
  const hashes = await decompress(compressed, { maxOutputLength: bytes });
  if (hashes.length !== bytes) throw new Error("it has not as many hashes as the disk has blocks");
  return hashes;
}

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** The numbers of the blocks that a disk with these hashes has and an earlier one lacks. */
export function* lackingBlocks(hashes: Buffer, earlier: ReadonlySet<bigint>): Generator<number> {
  let number = 0;
  for (const hash of eachHash(hashes)) {
    if (hash !== zeroHash && !earlier.has(hash)) yield number;
    number += 1;
  }
}
