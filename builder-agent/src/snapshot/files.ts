import { constants, copyFile, open, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { snapshotMs } from "../contract.ts";
import { overlayName } from "../testdrive/disk.ts";
import { serialLogName, type SavedState } from "../testdrive/qemu.ts";
import type { SessionDir } from "../testdrive/session-dir.ts";

/*
 * A snapshot is a directory. `state` is QEMU's saved state, `overlay.qcow2` is what the boot has written to the disk (a
 * medium has none), and `serial.log` is the output of the serial console.
 */

export const stateName = "state";

export async function isFresh(snapshot: string): Promise<boolean> {
  const { mtimeMs } = await stat(join(snapshot, stateName));
  return Date.now() - mtimeMs < snapshotMs;
}

/**
 * Moves the disk of a boot into the snapshot, if it has one. Sessions open it with the agent's rights. A guest may have
 * taken over its QEMU, so the disk must not refer to other files. Without special features a qcow2 can only name a
 * backing file, and our command line overrides that name (docs/interop/qcow2 of QEMU: bytes 32, 60 and 72).
 */
export async function takeOverlay(from: string, to: string): Promise<void> {
  const head = Buffer.alloc(80);
  try {
    await using file = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW);
    await file.read(head, 0, head.length, 0);
    await file.sync();
  } catch (error) {
    return ignoreMissing(error);
  }
  const isPlain = head.readUInt32BE(32) === 0 && head.readUInt32BE(60) === 0 && head.readBigUInt64BE(72) === 0n;
  if (head.toString("latin1", 0, 4) !== "QFI\xfb" || head.readUInt32BE(4) !== 3 || !isPlain)
    throw new Error("the disk after the boot is not one that QEMU makes");
  await rename(from, to);
}

/** A snapshot that is opened for one session. The session's directory has its own copy of the disk. */
export interface OpenSnapshot extends SavedState, AsyncDisposable {}

export async function openSnapshot(snapshot: string, dir: SessionDir): Promise<OpenSnapshot> {
  const overlay = copyFile(join(snapshot, overlayName), dir.file(overlayName), constants.COPYFILE_FICLONE);
  const [console] = await Promise.all([readFile(join(snapshot, serialLogName)), overlay.catch(ignoreMissing)]);
  const file = await open(join(snapshot, stateName));
  return { descriptor: file.fd, console, [Symbol.asyncDispose]: () => file.close() };
}

/** Flushes files and directories, so that a crash of the host cannot leave them incomplete. */
export async function flush(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await using file = await open(path);
    await file.sync();
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
}
