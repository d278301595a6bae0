import { createHash, hash } from "node:crypto";
import { createReadStream } from "node:fs";

/** The sizes of a block, which is the part of a disk that a delta compares. */
export const blockSizes: readonly number[] = [1024, 4096];

/**
 * The size of a block in a disk of this many bytes. File systems place files and their own records in blocks of 4 KiB;
 * ext4 in blocks of 1 KiB if it has less than 512 MiB.
 */
export const blockSizeOf = (diskBytes: number): number => (diskBytes < 1024 ** 3 ? 1024 : 4096);

/** The bytes of a block's hash: the beginning of its SHA-256. The SHA-256 of the whole disk decides at the end. */
export const hashBytes = 8;
/** The hash of a block of zeros, which most of a disk consists of. */
export const zeroHash = 0n;

/** The number of bytes of a disk that are read at a time. */
export const chunkBytes = 1024 ** 2;
const zeros = Buffer.alloc(2 * chunkBytes);

/** A disk, as a delta describes it. `hashes` has the hash of each block, in order. */
export interface Blocks {
  size: number;
  sha256: string;
  /** The size of a block. */
  block: number;
  hashes: Buffer;
}

/** Reads a disk once, in blocks of that size. */
export async function readBlocks(disk: string, block: number): Promise<Blocks> {
  const whole = createHash("sha256");
  const hashes: Buffer[] = [];
  let size = 0;
  let rest = Buffer.alloc(0);
  for await (const read of createReadStream(disk, { highWaterMark: chunkBytes })) {
    const bytes = rest.length === 0 ? read : Buffer.concat([rest, read]);
    const blocks = bytes.subarray(0, bytes.length - (bytes.length % block));
    whole.update(read);
    hashes.push(hashesOf(blocks, block));
    size += read.length;
    rest = bytes.subarray(blocks.length);
  }
  hashes.push(hashesOf(rest, block));
  return { size, block, sha256: whole.digest("hex"), hashes: Buffer.concat(hashes) };
}

/** The hash of each block that begins in these bytes. Blocks of zeros cost next to nothing. */
function hashesOf(bytes: Buffer, size: number): Buffer {
  const hashes = Buffer.alloc(Math.ceil(bytes.length / size) * hashBytes);
  if (isZero(bytes)) return hashes;
  for (let at = 0, to = 0; at < bytes.length; at += size, to += hashBytes) {
    const block = bytes.subarray(at, at + size);
    if (!isZero(block)) hash("sha256", block, "buffer").copy(hashes, to, 0, hashBytes);
  }
  return hashes;
}

const isZero = (bytes: Buffer): boolean => bytes.equals(zeros.subarray(0, bytes.length));

/** The hash of each block, as a number. */
export function* eachHash(hashes: Buffer): Generator<bigint> {
  for (let at = 0; at < hashes.length; at += hashBytes) yield hashes.readBigUInt64LE(at);
}
