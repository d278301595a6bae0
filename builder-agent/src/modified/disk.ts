import type { FileHandle } from "node:fs/promises";
import { readInto } from "../files.ts";

/** A disk as its guest sees it. */
export interface Disk {
  size: number;
  /** Throws UnreadableDisk if the range goes beyond the end. */
  read(position: number, length: number): Promise<Buffer>;
}

/** A message for the session's owner: the disk is damaged, or its format is not supported. */
export class UnreadableDisk extends Error {
  constructor(why: string) {
    super(`The session's disk cannot be read: ${why}.`);
    this.name = "UnreadableDisk";
  }
}

/** The largest read. */
const maxBytes = 16 * 1024 * 1024;

export function checkRange(size: number, position: number, length: number): void {
  const isWithin = Number.isSafeInteger(position) && position >= 0 && length >= 0 && position + length <= size;
  if (!isWithin) throw new UnreadableDisk("it refers to a place after its end");
  if (length > maxBytes) throw new UnreadableDisk("it contains a piece that is too large");
}

export const rawDisk = (file: FileHandle, size: number): Disk => ({
  size,
  async read(position, length) {
    checkRange(size, position, length);
    return await readFully(file, position, length);
  },
});

export const partOf = (disk: Disk, start: number, size: number): Disk => ({
  size,
  read(position, length) {
    checkRange(size, position, length);
    return disk.read(start + position, length);
  },
});

/** Bytes after the end of the file are zeros, as in a truncated sparse file. */
export async function readFully(file: FileHandle, position: number, length: number): Promise<Buffer> {
  checkRange(Number.MAX_SAFE_INTEGER, position, length);
  const bytes = Buffer.alloc(length);
  await readInto(file, bytes, position);
  return bytes;
}
