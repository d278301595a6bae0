/**
 * qemu-img gives each disk that it writes new identifiers, and some disks also the time. These functions replace them
 * with values from a seed, so that the same disk makes the same file (decision 28).
 */
import { createHash } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import { readInto, writeAll } from "../files.ts";

/** Replaces the bytes that one driver of qemu-img writes differently each time. */
type Replacement = (disk: FileHandle, seed: string) => Promise<void>;

/** Drivers that are not here write the same bytes each time. */
const replacementOf: Readonly<Record<string, Replacement>> = { vdi, vmdk, vpc, vhdx };

export async function makeReproducible(
  path: string,
  { driver, seed }: { driver: string; seed: string },
): Promise<void> {
  const replace = replacementOf[driver];
  if (!replace) return;
  await using disk = await open(path, "r+");
  await replace(disk, seed);
}

/** An identifier in the form of a random UUID. */
function uuidFrom(seed: string, what: string): Buffer {
  const uuid = createHash("sha256").update(`${what} ${seed}`).digest().subarray(0, 16);
  // The place of the version depends on the byte order of its number.
  for (const at of [6, 7]) uuid.writeUInt8((uuid.readUInt8(at) & 0x0f) | 0x40, at);
  uuid.writeUInt8((uuid.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuid;
}

async function bytesAt(disk: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  await readInto(disk, bytes, at);
  return bytes;
}

/** VDI: the identifiers of the image and of its last snapshot. */
async function vdi(disk: FileHandle, seed: string): Promise<void> {
  await writeAll(disk, Buffer.concat([uuidFrom(seed, "image"), uuidFrom(seed, "snapshot")]), 392);
}

/** VMDK: the content id in its description. It gets eight digits, so the text after it moves if it had fewer. */
async function vmdk(disk: FileHandle, seed: string): Promise<void> {
  const head = await bytesAt(disk, 0, 64 * kib);
  const at = head.indexOf("# Disk DescriptorFile");
  const text = head.toString("latin1", at, head.indexOf(0, at));
  if (at < 0 || !contentId.test(text)) throw new Error("the VMDK has no content id");
  const digest = createHash("sha256").update(`content ${seed}`).digest("hex");
  await writeAll(disk, Buffer.from(text.replace(contentId, `CID=1${digest.slice(0, 7)}`), "latin1"), at);
}

const contentId = /^CID=[0-9a-f]{1,8}$/m;
const kib = 1024;

/** VHD of a fixed size: the time and the identifier in its last sector, which has a checksum. */
async function vpc(disk: FileHandle, seed: string): Promise<void> {
  const at = (await disk.stat()).size - 512;
  const footer = await bytesAt(disk, at, 512);
  footer.writeUInt32BE(0, 24);
  uuidFrom(seed, "disk").copy(footer, 68);
  footer.writeUInt32BE(0, 64);
  const sum = footer.reduce((total, byte) => total + byte, 0);
  footer.writeUInt32BE(~sum >>> 0, 64);
  await writeAll(disk, footer, at);
}

/** The region of metadata, and the identifier of the disk in it, in the byte order of the file. */
const metadataRegion = Buffer.from("06a27c8b90479a4bb8fe575f050f886e", "hex");
const diskIdentifier = Buffer.from("ab12cabee6b2234593efc309e000c746", "hex");

/**
 * VHDX: both headers (their numbers, the identifiers of writes, checksums), the log, which is empty without its
 * identifier in a header, and the identifier of the disk.
 */
async function vhdx(disk: FileHandle, seed: string): Promise<void> {
  for (const [nth, at] of [64 * kib, 128 * kib].entries()) {
    const header = await bytesAt(disk, at, 4 * kib);
    if (header.subarray(48, 64).some((byte) => byte !== 0)) throw new Error("the VHDX has a log");
    header.writeBigUInt64LE(BigInt(nth + 1), 8);
    uuidFrom(seed, "file").copy(header, 16);
    uuidFrom(seed, "data").copy(header, 32);
    header.writeUInt32LE(0, 4);
    header.writeUInt32LE(crc32c(header), 4);
    await writeAll(disk, header, at);
    await writeAll(disk, Buffer.alloc(header.readUInt32LE(68)), Number(header.readBigUInt64LE(72)));
  }
  const regions = await bytesAt(disk, 192 * kib, 64 * kib);
  const metadata = Number(regions.readBigUInt64LE(placeIn(regions, metadataRegion) + 16));
  const table = await bytesAt(disk, metadata, 64 * kib);
  const identifier = table.readUInt32LE(placeIn(table, diskIdentifier) + 16);
  await writeAll(disk, uuidFrom(seed, "disk"), metadata + identifier);
}

function placeIn(table: Buffer, id: Buffer): number {
  const at = table.indexOf(id);
  if (at < 0) throw new Error("the VHDX lacks a table");
  return at;
}

/** The checksum of a header (Castagnoli). Node's zlib has only the other CRC-32. */
function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}
