import type { FileHandle } from "node:fs/promises";

/** A disk as its guest sees it, read at any place. */
export interface Disk {
  size: number;
  /** All of these bytes; a range that goes beyond the end is a damaged disk. */
  read(position: number, length: number): Promise<Buffer>;
}

/** What the session wrote makes no sense, or is nothing that can be read here; said to its owner. */
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
  if (!isWithin) throw new UnreadableDisk("it names a place behind its end");
  if (length > maxBytes) throw new UnreadableDisk("it holds a piece that is too large");
}

/** A raw disk in a file. */
export const rawDisk = (file: FileHandle, size: number): Disk => ({
  size,
  async read(position, length) {
    checkRange(size, position, length);
    return await readFully(file, position, length);
  },
});

/** A part of a disk. */
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
  for (let done = 0; done < length;) {
    const { bytesRead } = await file.read(bytes, done, length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes;
}
