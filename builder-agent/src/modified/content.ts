import type { Geometry, ReadBlock } from "./ext4-blocks.ts";
import { extentsOf, type Inode } from "./ext4-inode.ts";

/** A part of a file's content. `bytes` is null in a hole, which may be as long as the file. */
export interface Piece {
  length: number;
  bytes: Buffer | null;
}

interface Volume {
  read: ReadBlock;
  geometry: Geometry;
}

/** As many zeros as the longest block has bytes. */
const zeros = Buffer.alloc(64 * 1024);

/** The bytes of a file, directory or long link. Holes are zeros. */
export async function* contentOf(volume: Volume, inode: Inode): AsyncGenerator<Buffer> {
  for await (const { length, bytes } of piecesOf(volume, inode)) {
    if (bytes) yield bytes;
    else for (let done = 0; done < length; done += zeros.length) yield zeros.subarray(0, length - done);
  }
}

/** The content block by block, except that each hole is one piece. */
export async function* piecesOf({ read, geometry }: Volume, inode: Inode): AsyncGenerator<Piece> {
  const { blockBytes } = geometry;
  const blocks = Math.ceil(inode.size / blockBytes);
  const lengthOf = (from: number, to: number) => Math.min(to * blockBytes, inode.size) - from * blockBytes;
  let next = 0;
  for await (const { at, count, start } of extentsOf(read, geometry, inode)) {
    if (at >= blocks) break;
    if (start === null) continue; // belongs to the hole before the next extent
    if (next < at) yield { length: lengthOf(next, at), bytes: null };
    for (next = at; next < Math.min(at + count, blocks); next++) {
      const length = lengthOf(next, next + 1);
      yield { length, bytes: (await read(start + next - at)).subarray(0, length) };
    }
  }
  if (next < blocks) yield { length: lengthOf(next, blocks), bytes: null };
}

const nothing: Piece = { length: 0, bytes: null };

/**
 * Compares two contents of the same size, whose pieces may have different lengths. Where both have a hole, no byte is
 * compared: a sparse file may have terabytes.
 */
export async function isSame(one: AsyncGenerator<Piece>, other: AsyncGenerator<Piece>, signal: AbortSignal) {
  let [left, right] = [nothing, nothing];
  try {
    for (;;) {
      signal.throwIfAborted();
      if (left.length === 0) left = (await one.next()).value ?? nothing;
      if (right.length === 0) right = (await other.next()).value ?? nothing;
      const length = Math.min(left.length, right.length);
      if (length === 0) return left.length === right.length;
      if (!beginAlike(left, right, length)) return false;
      [left, right] = [restOf(left, length), restOf(right, length)];
    }
  } finally {
    await Promise.all([one.return(undefined), other.return(undefined)]);
  }
}

function beginAlike({ bytes: left }: Piece, { bytes: right }: Piece, length: number): boolean {
  if (!left && !right) return true;
  return (left ?? zeros).subarray(0, length).equals((right ?? zeros).subarray(0, length));
}

const restOf = ({ length, bytes }: Piece, begin: number): Piece => ({
  length: length - begin,
  bytes: bytes && bytes.subarray(begin),
});
