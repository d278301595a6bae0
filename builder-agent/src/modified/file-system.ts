import { contentOf, piecesOf, type Piece } from "./content.ts";
import { UnreadableDisk, type Disk } from "./disk.ts";
import {
  cachedBlocks,
  firstSuperblock,
  geometryOf,
  isExt,
  readSuperblock,
  type Geometry,
  type ReadBlock,
} from "./ext4-blocks.ts";
import { extentsOf, readInode, type Inode } from "./ext4-inode.ts";
import { withJournal } from "./ext4-journal.ts";
import { fileSystemOf, holdsVolumes, partitionsOf } from "./partitions.ts";

const rootInode = 2;
const maxDirectoryBytes = 64 * 1024 * 1024;
const longestTarget = 4096;

/** The root file system of a disk, as a mount would see it. An untrusted guest may have written all of it. */
export class FileSystem {
  readonly #read: ReadBlock;
  readonly #geometry: Geometry;

  private constructor(read: ReadBlock, geometry: Geometry) {
    this.#read = read;
    this.#geometry = geometry;
  }

  static async open(disk: Disk): Promise<FileSystem> {
    const raw = geometryOf(await firstSuperblock(disk));
    const blocks = cachedBlocks(disk, raw.blockBytes);
    if (raw.journal === 0 || !raw.needsRecovery) return new FileSystem(blocks, raw);
    const read = await withJournal(blocks, await journalOf(blocks, raw));
    return new FileSystem(read, geometryOf(await readSuperblock(read, raw.blockBytes)));
  }

  async root(): Promise<Inode> {
    const root = await readInode(this.#read, this.#geometry, rootInode);
    if (root?.type !== "d") throw new UnreadableDisk("its file system has no root");
    return root;
  }

  inode(number: number): Promise<Inode | undefined> {
    return readInode(this.#read, this.#geometry, number);
  }

  /** The inodes in a directory by name. Names are read as Latin-1, so each byte is a character. */
  async list(directory: Inode): Promise<Map<string, number>> {
    if (directory.size > maxDirectoryBytes) throw new UnreadableDisk("one of its directories is too large");
    const names = new Map<string, number>();
    for await (const block of this.content(directory)) {
      for (const [name, inode] of namesIn(block)) if (name !== "." && name !== "..") names.set(name, inode);
    }
    return names;
  }

  /** The inode of a path. Follows no links. */
  async at(path: string): Promise<Inode | undefined> {
    let found: Inode | undefined = await this.root();
    for (const name of path.split("/").filter((each) => each !== "")) {
      if (found?.type !== "d") return undefined;
      const number: number | undefined = (await this.list(found)).get(Buffer.from(name).toString("latin1"));
      found = number === undefined ? undefined : await this.inode(number);
    }
    return found;
  }

  content(inode: Inode): AsyncGenerator<Buffer> {
    return contentOf({ read: this.#read, geometry: this.#geometry }, inode);
  }

  /** The content of a file, in which each hole is one piece. */
  pieces(inode: Inode): AsyncGenerator<Piece> {
    return piecesOf({ read: this.#read, geometry: this.#geometry }, inode);
  }

  /** The target of a symbolic link. A target of up to 59 bytes is in the inode. */
  async target(link: Inode): Promise<Buffer> {
    if (link.size < 60) return link.body.subarray(0, link.size);
    if (link.size > longestTarget) throw new UnreadableDisk("one of its links is too long");
    return await bytesOf(this.content(link));
  }
}

/** The file system that contains /etc. */
export async function rootFileSystem(disk: Disk): Promise<FileSystem> {
  const partitions = await partitionsOf(disk);
  for (const partition of partitions) {
    if (!(await isExt(partition))) continue;
    const found = await FileSystem.open(partition);
    if ((await found.list(await found.root())).has("etc")) return found;
  }
  throw new UnreadableDisk(await whyNoRoot(partitions));
}

async function whyNoRoot(partitions: Disk[]): Promise<string> {
  const volumes = await Promise.all(partitions.map(holdsVolumes));
  if (volumes.includes(true))
    return "it is divided into volumes (LVM), and only a root in its own partition can be read";
  const found = await Promise.all(partitions.map(fileSystemOf));
  const other = found.find((name) => name !== undefined && name !== "ext4");
  return other === undefined
    ? "it has no partition with an ext4 root"
    : `its file system is ${other}, and only ext4 can be read`;
}

export async function bytesOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

/**
 * https://docs.kernel.org/filesystems/ext4/directory.html. The inner nodes of an indexed directory look like empty
 * entries.
 */
function* namesIn(block: Buffer): Generator<[name: string, inode: number]> {
  for (let at = 0; at + 8 <= block.length;) {
    const inode = block.readUInt32LE(at);
    const length = block.readUInt16LE(at + 4) || 65_536;
    const nameBytes = block.readUInt8(at + 6);
    if (length < 8 || at + 8 + nameBytes > block.length) throw new UnreadableDisk("one of its directories is damaged");
    const name = block.toString("latin1", at + 8, at + 8 + nameBytes);
    if (inode !== 0 && nameBytes > 0 && !/[/\0]/.test(name)) yield [name, inode];
    at += length;
  }
}

/** Reads a block of the journal by its position. */
const maxJournalExtents = 4096;

async function journalOf(blocks: ReadBlock, geometry: Geometry): Promise<(position: number) => Promise<Buffer>> {
  const inode = await readInode(blocks, geometry, geometry.journal);
  if (inode?.type !== "f") throw new UnreadableDisk("the journal of its file system is damaged");
  const extents = await Array.fromAsync(extentsOf(blocks, geometry, inode));
  // Each block is looked up among them. A journal is made in one piece, or a few.
  if (extents.length > maxJournalExtents) throw new UnreadableDisk("the journal of its file system is damaged");
  return async (position) => {
    const extent = extents.find(({ at, count }) => position >= at && position < at + count);
    if (!extent || extent.start === null) throw new UnreadableDisk("the journal of its file system is damaged");
    return await blocks(extent.start + position - extent.at);
  };
}
