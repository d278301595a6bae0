import { fileSystemFacts, fileSystems, type FileSystem } from "../contract.ts";
import { partOf, type Disk } from "./disk.ts";

const sectorBytes = 512;
const maxEntries = 256;

/** The partitions of a disk by GPT or MBR, in the order of the table. Without a table, the whole disk. */
export async function partitionsOf(disk: Disk): Promise<Disk[]> {
  const first = await disk.read(0, 2 * sectorBytes);
  if (first.toString("latin1", sectorBytes, sectorBytes + 8) === "EFI PART") {
    return await gptPartitions(disk, first.subarray(sectorBytes));
  }
  if (first.readUInt16LE(510) !== 0xaa55) return [disk];
  const found = [0, 1, 2, 3].flatMap((at) => {
    const entry = first.subarray(446 + at * 16);
    return sliceOf(disk, entry.readUInt32LE(8), entry.readUInt32LE(12));
  });
  return found.length === 0 ? [disk] : found;
}

async function gptPartitions(disk: Disk, head: Buffer): Promise<Disk[]> {
  const entryBytes = head.readUInt32LE(84);
  const count = Math.min(head.readUInt32LE(80), maxEntries);
  if (entryBytes < 128 || entryBytes > 4096) return [];
  const table = await disk.read(Number(head.readBigUInt64LE(72)) * sectorBytes, count * entryBytes);
  return Array.from({ length: count }, (_, at) => {
    const entry = table.subarray(at * entryBytes);
    const [from, to] = [entry.readBigUInt64LE(32), entry.readBigUInt64LE(40)];
    return sliceOf(disk, Number(from), Number(to - from) + 1);
  }).flat();
}

/** Returns nothing for an empty entry, and for one that goes beyond the disk. */
function sliceOf(disk: Disk, startSector: number, sectors: number): Disk[] {
  const [start, size] = [startSector * sectorBytes, sectors * sectorBytes];
  return startSector > 0 && sectors > 0 && start + size <= disk.size ? [partOf(disk, start, size)] : [];
}

/** Whether the partition belongs to LVM: its label is in one of the first four sectors, by default in the second. */
export async function holdsVolumes(partition: Disk): Promise<boolean> {
  if (partition.size < 4 * sectorBytes) return false;
  const head = await partition.read(0, 4 * sectorBytes);
  return [0, 1, 2, 3].some((at) => {
    const label = head.toString("latin1", at * sectorBytes, (at + 1) * sectorBytes);
    return label.startsWith("LABELONE") && label.startsWith("LVM2 001", 24);
  });
}

/** The file system in a partition, recognised by its magic number. Undefined if it is not one that a root can have. */
export async function fileSystemOf(partition: Disk): Promise<FileSystem | undefined> {
  for (const name of fileSystems) {
    const { at, text } = fileSystemFacts[name].mark;
    if (partition.size < at + text.length) continue;
    if ((await partition.read(at, text.length)).toString("latin1") === text) return name;
  }
  return undefined;
}
