import { UnreadableDisk } from "./disk.ts";
import type { Geometry, ReadBlock } from "./ext4-blocks.ts";

type FileType = "f" | "d" | "l" | "c" | "b" | "p" | "s";

/** https://docs.kernel.org/filesystems/ext4/inodes.html */
export interface Inode {
  number: number;
  type: FileType;
  /** Permissions with setuid, setgid and sticky. */
  mode: number;
  uid: number;
  gid: number;
  size: number;
  /** The times of the last change of the content and of the inode, as stored. */
  times: string;
  /** Seconds since 1970. */
  modifiedAt: number;
  flags: number;
  /** Extents, or a short link's target. */
  body: Buffer;
}

/**
 * `count` blocks of a file from block `at` on. They are on the disk from block `start` on; if that is null, they are
 * zeros.
 */
interface Extent {
  at: number;
  count: number;
  start: number | null;
}

const types: Record<number, FileType> = { 8: "f", 4: "d", 10: "l", 2: "c", 6: "b", 1: "p", 12: "s" };
const usesExtents = 0x80000;
const isUnreadable = 0x800 | 0x10000000; // encrypted, or inline data
const extentMagic = 0xf30a;
const deepest = 5;
const maxExtents = 2_000_000;

/** Undefined if the inode is not in use. */
export async function readInode(read: ReadBlock, geometry: Geometry, number: number): Promise<Inode | undefined> {
  const { inodesPerGroup, inodes, inodeBytes, blockBytes, groupsAt, groupBytes } = geometry;
  if (number < 1 || number > inodes) throw new UnreadableDisk("a directory refers to an inode that does not exist");
  const group = Math.floor((number - 1) / inodesPerGroup);
  const perBlock = Math.floor(blockBytes / groupBytes);
  const descriptor = (await read(groupsAt + Math.floor(group / perBlock))).subarray((group % perBlock) * groupBytes);
  const table = descriptor.readUInt32LE(8) + (groupBytes >= 64 ? descriptor.readUInt32LE(0x28) * 2 ** 32 : 0);
  const offset = ((number - 1) % inodesPerGroup) * inodeBytes;
  const bytes = (await read(table + Math.floor(offset / blockBytes)))
    .subarray(offset % blockBytes)
    .subarray(0, inodeBytes);
  return inodeIn(bytes, number);
}

function inodeIn(bytes: Buffer, number: number): Inode | undefined {
  const mode = bytes.readUInt16LE(0);
  const type = types[mode >> 12];
  if (type === undefined) return undefined;
  const hasMoreTime = bytes.length > 0x8c;
  return {
    number,
    type,
    mode: mode & 0o7777,
    uid: bytes.readUInt16LE(2) + bytes.readUInt16LE(0x78) * 65_536,
    gid: bytes.readUInt16LE(0x18) + bytes.readUInt16LE(0x7a) * 65_536,
    // Only files and directories may have more than 4 GiB.
    size: bytes.readUInt32LE(4) + (type === "f" || type === "d" ? bytes.readUInt32LE(0x6c) * 2 ** 32 : 0),
    times: bytes.toString("hex", 0xc, 0x14) + (hasMoreTime ? bytes.toString("hex", 0x84, 0x8c) : ""),
    modifiedAt: bytes.readUInt32LE(0x10),
    flags: bytes.readUInt32LE(0x20),
    body: Buffer.from(bytes.subarray(0x28, 0x28 + 60)),
  };
}

/** The extents in the order of the file. */
export async function* extentsOf(read: ReadBlock, geometry: Geometry, inode: Inode): AsyncGenerator<Extent> {
  if ((inode.flags & isUnreadable) !== 0)
    throw new UnreadableDisk("one of its files is encrypted, or stored in its inode");
  if (inode.size === 0) return;
  if ((inode.flags & usesExtents) === 0) throw new UnreadableDisk("one of its files has no extents");
  let seen = 0;
  let before = 0;
  for await (const extent of leaves(read, inode.body)) {
    const isInside = extent.start === null || extent.start + extent.count <= geometry.blocks;
    const isExpected = extent.count > 0 && extent.at >= before && isInside;
    if (++seen > maxExtents || !isExpected) throw new UnreadableDisk("a file's extents are damaged");
    before = extent.at + extent.count;
    yield extent;
  }
}

/**
 * The entries of the leaves below a node. https://docs.kernel.org/filesystems/ext4/ifork.html#extent-tree
 *
 * Many entries of a damaged tree may lead to the same node. Each visit of a leaf therefore has to return an extent, and
 * `extentsOf` refuses the same extent twice.
 */
async function* leaves(read: ReadBlock, node: Buffer, expectedDepth?: number): AsyncGenerator<Extent> {
  const count = node.readUInt16LE(2);
  const depth = node.readUInt16LE(6);
  const hasDepth = expectedDepth === undefined ? depth <= deepest : depth === expectedDepth && count > 0;
  const isSound = node.readUInt16LE(0) === extentMagic && hasDepth && 12 + count * 12 <= node.length;
  if (!isSound) throw new UnreadableDisk("a file's extents are damaged");
  for (let at = 12; at < 12 + count * 12; at += 12) {
    const entry = node.subarray(at, at + 12);
    if (depth === 0) yield leafIn(entry);
    else {
      const below = entry.readUInt32LE(4) + entry.readUInt16LE(8) * 2 ** 32;
      yield* leaves(read, await read(below), depth - 1);
    }
  }
}

function leafIn(entry: Buffer): Extent {
  const length = entry.readUInt16LE(4);
  const isUnwritten = length > 32_768;
  const start = entry.readUInt32LE(8) + entry.readUInt16LE(6) * 2 ** 32;
  return {
    at: entry.readUInt32LE(0),
    count: isUnwritten ? length - 32_768 : length,
    start: isUnwritten ? null : start,
  };
}
