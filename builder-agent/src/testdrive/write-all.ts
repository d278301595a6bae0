import type { FileHandle } from "node:fs/promises";

/** All the bytes at that position; a full disk otherwise writes some of them and says nothing until the next call. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}
