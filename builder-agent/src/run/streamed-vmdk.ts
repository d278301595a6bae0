/**
 * Writes VMDKs of the kind "streamOptimized" (VMware, Virtual Disk Format 5.0): compressed pieces of 64 KiB ("grains"),
 * tables with their positions, and at the end a directory of the tables. qemu-img compresses the pieces one after the
 * other, at a level that takes five times as long.
 */
import { open, type FileHandle } from "node:fs/promises";
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import { readInto, writeAll } from "../files.ts";

const sectorBytes = 512;
const grainSectors = 128;
const grainBytes = grainSectors * sectorBytes;
const grainsPerTable = 512;
/** The header and the description have this much room. */
const headSectors = 128;
const descriptionSectors = 20;
/** zlib's level: a higher one takes twice the time for 4 % less. */
const level = 3;
/** How many grains are compressed at a time. */
const grainsAtOnce = 64;

const compress = promisify(deflate);
const zeros = Buffer.alloc(grainBytes);

/** Writes the raw disk as a VMDK. Its content id is always the same: see reproducible-disk.ts. */
export async function writeStreamedVmdk(raw: string, to: string, signal: AbortSignal): Promise<void> {
  await using from = await open(raw);
  await using target = await open(to, "w");
  const { size } = await from.stat();
  const file = new SectorFile(target);
  await file.append(head(size));
  const tables: number[] = [];
  for (let at = 0; at < size; at += grainsPerTable * grainBytes) {
    signal.throwIfAborted();
    tables.push(await appendGrains(from, file, { at, end: Math.min(size, at + grainsPerTable * grainBytes) }));
  }
  const directory = await appendMarked(file, markers.directory, numbers(tables));
  await appendMarked(file, markers.footer, header(size, BigInt(directory)));
  await file.append(Buffer.alloc(sectorBytes)); // the end of the stream
}

/** A file that is written from start to end in whole sectors. */
class SectorFile {
  readonly #file: FileHandle;
  #sectors = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Appends the bytes and fills their last sector. Returns the number of their first sector. */
  async append(bytes: Buffer): Promise<number> {
    const begin = this.#sectors;
    const whole = padded(bytes, Math.ceil(bytes.length / sectorBytes));
    await writeAll(this.#file, whole, begin * sectorBytes);
    this.#sectors += whole.length / sectorBytes;
    return begin;
  }
}

/** Appends the grains between two positions and their table. Returns the table's sector, or 0 if there are no grains. */
async function appendGrains(
  from: FileHandle,
  file: SectorFile,
  { at: begin, end }: { at: number; end: number },
): Promise<number> {
  const table = Buffer.alloc(grainsPerTable * 4);
  const bytes = Buffer.alloc(grainsAtOnce * grainBytes);
  for (let at = begin; at < end; at += bytes.length) {
    const read = await readInto(from, bytes.subarray(0, Math.min(bytes.length, end - at)), at);
    bytes.fill(0, read); // the last grain of a disk may be shorter
    for (const { offset, packed } of await packGrains(bytes.subarray(0, Math.ceil(read / grainBytes) * grainBytes))) {
      const sector = await file.append(grain((at + offset) / sectorBytes, packed));
      table.writeUInt32LE(sector, ((at + offset - begin) / grainBytes) * 4);
    }
  }
  return table.some((byte) => byte !== 0) ? await appendMarked(file, markers.table, table) : 0;
}

/** Compresses the grains that are not empty, on all processors. */
async function packGrains(bytes: Buffer): Promise<{ offset: number; packed: Buffer }[]> {
  const offsets = Array.from({ length: bytes.length / grainBytes }, (_, nth) => nth * grainBytes);
  const used = offsets.filter((offset) => !bytes.subarray(offset, offset + grainBytes).equals(zeros));
  return await Promise.all(
    used.map(async (offset) => ({
      offset,
      packed: await compress(bytes.subarray(offset, offset + grainBytes), { level }),
    })),
  );
}

/** A compressed grain, after the number of its first sector on the disk. */
function grain(sector: number, packed: Buffer): Buffer {
  const start = Buffer.alloc(12);
  start.writeBigUInt64LE(BigInt(sector));
  start.writeUInt32LE(packed.length, 8);
  return Buffer.concat([start, packed]);
}

const markers = { table: 1, directory: 2, footer: 3 };

/** Appends data after a marker. Returns the sector of the data. */
async function appendMarked(file: SectorFile, marker: number, data: Buffer): Promise<number> {
  const bytes = Buffer.alloc(sectorBytes);
  bytes.writeBigUInt64LE(BigInt(Math.ceil(data.length / sectorBytes)));
  bytes.writeUInt32LE(marker, 12);
  await file.append(bytes);
  return await file.append(data);
}

/** The directory is at the end, as the footer says. */
const atEnd = 2n ** 64n - 1n;

const head = (size: number): Buffer =>
  padded(Buffer.concat([header(size, atEnd), Buffer.from(description(size), "latin1")]), headSectors);

/** The header, which the footer repeats with the position of the directory. */
function header(size: number, directory: bigint): Buffer {
  const bytes = Buffer.alloc(sectorBytes);
  bytes.write("KDMV", "latin1");
  bytes.writeUInt32LE(3, 4); // the version
  bytes.writeUInt32LE(0x30001, 8); // line ends can be tested, grains are compressed, and there are markers
  bytes.writeBigUInt64LE(BigInt(Math.ceil(size / sectorBytes)), 12);
  bytes.writeBigUInt64LE(BigInt(grainSectors), 20);
  bytes.writeBigUInt64LE(1n, 28); // the sector of the description
  bytes.writeBigUInt64LE(BigInt(descriptionSectors), 36);
  bytes.writeUInt32LE(grainsPerTable, 44);
  bytes.writeBigUInt64LE(directory, 56);
  bytes.writeBigUInt64LE(BigInt(headSectors), 64);
  bytes.write("\n \r\n", 73, "latin1"); // a transfer as text would change these
  bytes.writeUInt16LE(1, 77); // deflate
  return bytes;
}

const description = (size: number) => `# Disk DescriptorFile
version=1
CID=fffffffe
parentCID=ffffffff
createType="streamOptimized"

# Extent description
RW ${Math.ceil(size / sectorBytes)} SPARSE "disk.vmdk"

# The Disk Data Base
#DDB

ddb.virtualHWVersion = "4"
ddb.geometry.cylinders = "${Math.min(16_383, Math.floor(size / (16 * 63 * sectorBytes)))}"
ddb.geometry.heads = "16"
ddb.geometry.sectors = "63"
ddb.adapterType = "ide"
`;

/** 32-bit numbers. */
function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [nth, value] of values.entries()) bytes.writeUInt32LE(value, nth * 4);
  return bytes;
}

const padded = (bytes: Buffer, sectors: number): Buffer =>
  Buffer.concat([bytes, Buffer.alloc(sectors * sectorBytes - bytes.length)]);
