import { existsSync } from "node:fs";
import { access, mkdtemp, type FileHandle } from "node:fs/promises";
import { join } from "node:path";

/** @param mode R_OK, W_OK, X_OK of node:fs; default: that the file exists */
export async function isAccessible(path: string, mode?: number): Promise<boolean> {
  try {
    await access(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** Writes all the bytes at that position. On a full disk, one `write` may store only some of them, without an error. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}

/** Fills `bytes` from that position of the file on. Returns how many bytes the file has there. */
export async function readInto(file: FileHandle, bytes: Uint8Array, position: number): Promise<number> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}

/**
 * Creates a directory in which to prepare something, next to its final place. The name contains the id of the process
 * that prepares it.
 */
export const makingDir = (parent: string): Promise<string> => mkdtemp(join(parent, `making-${process.pid}-`));

/** Whether the process that prepares it still runs. If its id was reused, the directory stays and only takes space. */
export function isBeingMade(name: string): boolean {
  const pid = /^making-(\d+)-/.exec(name)?.[1];
  return pid !== undefined && existsSync(`/proc/${pid}`);
}
