import { Turns } from "../turns.ts";
import { UnreadableDisk, type Disk } from "./disk.ts";

/** The fields of the superblock that reading needs. https://docs.kernel.org/filesystems/ext4/globals.html */
export interface Geometry {
  blockBytes: number;
  blocks: number;
  inodes: number;
  inodesPerGroup: number;
  inodeBytes: number;
  /** First block of the group descriptors, and bytes of each. */
  groupsAt: number;
  groupBytes: number;
  /** Inode of the journal, or 0 if there is none. */
  journal: number;
  /** The file system was not unmounted, so blocks in the journal are newer than those on the disk. */
  needsRecovery: boolean;
}

/** Blocks of a file system by their number. */
export type ReadBlock = (block: number) => Promise<Buffer>;

const superblockAt = 1024;
const features = { needsRecovery: 0x4, is64Bit: 0x80 };
// File types in directories, recovery, extents, 64 bits, multiple mount protection, flexible groups, attributes in
// inodes, checksum seed, large directories. Those that change how a file is read are handled.
const readable = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x2000 | 0x4000;

export const isExt = async (disk: Disk): Promise<boolean> =>
  disk.size > 4096 && (await disk.read(superblockAt, 1024)).readUInt16LE(0x38) === 0xef53;

export function geometryOf(superblock: Buffer): Geometry {
  const wanted = superblock.readUInt32LE(0x60);
  if ((wanted & ~readable) !== 0)
    throw new UnreadableDisk("its file system is not ext4, or has features that builds do not use");
  const is64Bit = (wanted & features.is64Bit) !== 0;
  const blockBits = superblock.readUInt32LE(0x18) + 10;
  const inodeBytes = superblock.readUInt16LE(0x58);
  const groupBytes = is64Bit ? superblock.readUInt16LE(0xfe) : 32;
  const inodesPerGroup = superblock.readUInt32LE(0x28);
  const isSane = blockBits <= 16 && inodeBytes >= 128 && inodeBytes <= 4096 && groupBytes >= 32 && groupBytes <= 1024;
  if (!isSane || inodesPerGroup === 0) throw new UnreadableDisk("the head of its file system is damaged");
  return {
    blockBytes: 2 ** blockBits,
    blocks: superblock.readUInt32LE(0x4) + (is64Bit ? superblock.readUInt32LE(0x150) * 2 ** 32 : 0),
    inodes: superblock.readUInt32LE(0),
    inodesPerGroup,
    inodeBytes,
    groupsAt: superblock.readUInt32LE(0x14) + 1,
    groupBytes,
    journal: superblock.readUInt32LE(0xe0),
    needsRecovery: (wanted & features.needsRecovery) !== 0,
  };
}

/** The superblock from its place, or from the journal. */
export async function readSuperblock(read: ReadBlock, blockBytes: number): Promise<Buffer> {
  const at = superblockAt % blockBytes;
  return (await read(Math.floor(superblockAt / blockBytes))).subarray(at, at + 1024);
}

export const firstSuperblock = (disk: Disk): Promise<Buffer> => disk.read(superblockAt, 1024);

/**
 * Caches the last blocks read: inodes and directories are close together. Reading them takes turns with other work,
 * because a guest may have written a file system whose few blocks refer to each other again and again.
 */
export function cachedBlocks(disk: Disk, blockBytes: number): ReadBlock {
  const cached = new Map<number, Buffer>();
  const turns = new Turns();
  const maxBlocks = Math.ceil((8 * 1024 * 1024) / blockBytes);
  return async (block) => {
    if (turns.isOver()) await turns.next();
    const known = cached.get(block);
    if (known) return known;
    const read = await disk.read(block * blockBytes, blockBytes);
    if (cached.size >= maxBlocks) cached.clear();
    cached.set(block, read);
    return read;
  };
}
