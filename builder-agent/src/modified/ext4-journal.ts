import { UnreadableDisk } from "./disk.ts";
import type { ReadBlock } from "./ext4-blocks.ts";

/*
 * The journal contains blocks that are not yet in their places on the disk. A running machine's journal always has
 * some. They are read instead of the disk's blocks, and not written to the disk.
 * https://docs.kernel.org/filesystems/ext4/journal.html
 */

const magic = 0xc03b3998;
const kinds = { descriptor: 1, commit: 2, revoke: 5 };
const features = { is64Bit: 0x2, checksums2: 0x8, checksums3: 0x10, fastCommits: 0x20 };
const readable = 0x1f | features.fastCommits;
const flags = { escaped: 1, sameUuid: 2, last: 8 };
const maxBlocks = 1024 * 1024;

/** The position of the newest version of a block in the journal. */
interface Copy {
  position: number;
  /** The block itself starts with the journal's magic number, which the copy omits. */
  isEscaped: boolean;
}

interface Log {
  /** A block of the journal by its position in it. */
  read: (position: number) => Promise<Buffer>;
  first: number;
  /** The position after the last block. */
  end: number;
  start: number;
  sequence: number;
  is64Bit: boolean;
  tagBytes: number;
  hasTail: boolean;
}

/** Reads blocks as a mount would see them. @param read reads a block of the journal by its position */
export async function withJournal(blocks: ReadBlock, read: (position: number) => Promise<Buffer>): Promise<ReadBlock> {
  const log = await openLog(read);
  const copies = log.start === 0 ? new Map<number, Copy>() : await committed(log);
  return async (block) => {
    const copy = copies.get(block);
    if (!copy) return await blocks(block);
    const bytes = await read(copy.position);
    if (!copy.isEscaped) return bytes;
    const whole = Buffer.from(bytes);
    whole.writeUInt32BE(magic, 0);
    return whole;
  };
}

async function openLog(read: Log["read"]): Promise<Log> {
  const head = await read(0);
  const wanted = head.readUInt32BE(0x28);
  const isKnown = head.readUInt32BE(0) === magic && (head.readUInt32BE(4) === 3 || head.readUInt32BE(4) === 4);
  if (!isKnown || (wanted & ~readable) !== 0) throw new UnreadableDisk("the journal of its file system is damaged");
  const is64Bit = (wanted & features.is64Bit) !== 0;
  const hasChecksums3 = (wanted & features.checksums3) !== 0;
  const hasChecksums2 = (wanted & features.checksums2) !== 0;
  // Fast commits come after the log. They are ignored: the state is that of the last complete commit.
  const fastBlocks = (wanted & features.fastCommits) === 0 ? 0 : head.readUInt32BE(0x54) || 256;
  const end = head.readUInt32BE(0x10) - fastBlocks;
  const first = head.readUInt32BE(0x14);
  if (end > maxBlocks || first < 1 || first >= end)
    throw new UnreadableDisk("the journal of its file system is damaged");
  return {
    read,
    first,
    end,
    start: head.readUInt32BE(0x1c),
    sequence: head.readUInt32BE(0x18),
    is64Bit,
    tagBytes: hasChecksums3 ? 16 : 8 + (hasChecksums2 ? 2 : 0) + (is64Bit ? 4 : 0),
    hasTail: hasChecksums2 || hasChecksums3,
  };
}

/** Reads the log up to the first incomplete transaction. */
async function committed(log: Log): Promise<Map<number, Copy>> {
  const found: { block: number; sequence: number; copy: Copy }[] = [];
  /** For each block, the last transaction whose copy of it is invalid. Earlier copies are invalid, too. */
  const revoked = new Map<number, number>();
  let { sequence } = log;
  let open: { writes: [number, Copy][]; revokes: number[] } = { writes: [], revokes: [] };
  const step = (position: number, by = 1) => log.first + ((position - log.first + by) % (log.end - log.first));
  for (let position = log.start, passed = 0; passed <= log.end;) {
    const block = await log.read(position);
    if (block.readUInt32BE(0) !== magic || block.readUInt32BE(8) !== sequence) break;
    const kind = block.readUInt32BE(4);
    const writes = kind === kinds.descriptor ? tagsIn(block, log) : [];
    for (const [at, [target, isEscaped]] of writes.entries()) {
      open.writes.push([target, { position: step(position, at + 1), isEscaped }]);
    }
    if (kind === kinds.revoke) open.revokes.push(...revokesIn(block, log));
    if (kind === kinds.commit) {
      for (const [target, copy] of open.writes) found.push({ block: target, sequence, copy });
      for (const target of open.revokes) revoked.set(target, sequence);
      open = { writes: [], revokes: [] };
      sequence = (sequence + 1) >>> 0;
    } else if (kind !== kinds.descriptor && kind !== kinds.revoke) break;
    position = step(position, 1 + writes.length);
    passed += 1 + writes.length;
  }
  // Transaction ids wrap around, so they are compared by their distance.
  const isAlive = ({ block, sequence }: (typeof found)[number]) => {
    const until = revoked.get(block);
    return until === undefined || ((sequence - until) | 0) > 0;
  };
  return new Map(found.filter(isAlive).map(({ block, copy }) => [block, copy]));
}

/** Which blocks follow a descriptor, and whether each is escaped. */
function tagsIn(block: Buffer, { is64Bit, tagBytes, hasTail }: Log): [block: number, isEscaped: boolean][] {
  const tags: [number, boolean][] = [];
  const end = block.length - (hasTail ? 4 : 0);
  for (let at = 12; at + tagBytes <= end;) {
    const flagged = tagBytes === 16 ? block.readUInt32BE(at + 4) : block.readUInt16BE(at + 6);
    const high = is64Bit ? block.readUInt32BE(at + 8) : 0;
    tags.push([block.readUInt32BE(at) + high * 2 ** 32, (flagged & flags.escaped) !== 0]);
    if ((flagged & flags.last) !== 0) break;
    at += tagBytes + ((flagged & flags.sameUuid) === 0 ? 16 : 0);
  }
  return tags;
}

function revokesIn(block: Buffer, { is64Bit }: Log): number[] {
  const end = Math.min(block.readUInt32BE(12), block.length);
  const each = is64Bit ? 8 : 4;
  const found: number[] = [];
  for (let at = 16; at + each <= end; at += each) {
    found.push(is64Bit ? Number(block.readBigUInt64BE(at)) : block.readUInt32BE(at));
  }
  return found;
}
