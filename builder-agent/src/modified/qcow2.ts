import type { FileHandle } from "node:fs/promises";
import { checkRange, readFully, UnreadableDisk, type Disk } from "./disk.ts";

/*
 * Reads a session's overlay: the clusters that its guest has written, and the image below it for all others. Reads only
 * the features that QEMU uses for us: no compression, no encryption, no other files. So even if a guest has taken over
 * its QEMU, the overlay cannot refer to other files of this host. https://www.qemu.org/docs/master/interop/qcow2.html
 */

const magic = 0x514649fb;
/** The features "dirty" and "corrupt" are only marks. All others change how the file is read. */
const readableFeatures = 0b11n;
const offsetMask = 0x00fffffffffffe00n;
const compressed = 1n << 62n;
const allZeros = 1n;
const maxTableBytes = 8 * 1024 * 1024;

/** @param below the disk below the overlay, or null for a blank disk */
export async function overlayDisk(file: FileHandle, below: Disk | null): Promise<Disk> {
  const { size, clusterBytes, table } = await readHead(file);
  const entriesPerTable = clusterBytes / 8;
  const tables = new Map<number, BigUint64Array>();

  const tableOf = async (at: number): Promise<BigUint64Array | undefined> => {
    const offset = Number((table[at] ?? 0n) & offsetMask);
    if (offset === 0) return undefined;
    const known = tables.get(at);
    if (known) return known;
    const read = numbersIn(await readFully(file, offset, clusterBytes));
    if (tables.size >= 64) tables.clear();
    tables.set(at, read);
    return read;
  };

  const readPiece = async (position: number, length: number): Promise<Buffer> => {
    const cluster = Math.floor(position / clusterBytes);
    const entry = (await tableOf(Math.floor(cluster / entriesPerTable)))?.[cluster % entriesPerTable] ?? 0n;
    if (entry & compressed) throw new UnreadableDisk("its overlay is compressed");
    if (entry & allZeros) return Buffer.alloc(length);
    const offset = Number(entry & offsetMask);
    if (offset !== 0) return await readFully(file, offset + (position % clusterBytes), length);
    return await readBelow(below, position, length);
  };

  return {
    size,
    async read(position, length) {
      checkRange(size, position, length);
      const pieces: Buffer[] = [];
      for (let done = 0; done < length; done += pieces.at(-1)?.length ?? 0) {
        const at = position + done;
        pieces.push(await readPiece(at, Math.min(length - done, clusterBytes - (at % clusterBytes))));
      }
      return pieces.length === 1 ? (pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(pieces);
    },
  };
}

async function readHead(file: FileHandle) {
  const head = await readFully(file, 0, 104);
  const version = head.readUInt32BE(4);
  if (head.readUInt32BE(0) !== magic || version < 2 || version > 3)
    throw new UnreadableDisk("its overlay is not a qcow2 file");
  const isPlain =
    head.readUInt32BE(32) === 0 && (version === 2 || (head.readBigUInt64BE(72) & ~readableFeatures) === 0n);
  if (!isPlain) throw new UnreadableDisk("its overlay has unsupported features");
  const bits = head.readUInt32BE(20);
  const tableBytes = head.readUInt32BE(36) * 8;
  if (bits < 9 || bits > 21 || tableBytes > maxTableBytes) throw new UnreadableDisk("its overlay's head is damaged");
  const size = Number(head.readBigUInt64BE(24));
  const table = numbersIn(await readFully(file, Number(head.readBigUInt64BE(40)), tableBytes));
  return { size, clusterBytes: 2 ** bits, table };
}

const numbersIn = (bytes: Buffer) =>
  BigUint64Array.from({ length: bytes.length / 8 }, (_, at) => bytes.readBigUInt64BE(at * 8));

async function readBelow(below: Disk | null, position: number, length: number): Promise<Buffer> {
  const there = Math.max(0, Math.min(length, (below?.size ?? 0) - position));
  if (below === null || there === 0) return Buffer.alloc(length);
  const bytes = await below.read(position, there);
  return there === length ? bytes : Buffer.concat([bytes, Buffer.alloc(length - there)]);
}
