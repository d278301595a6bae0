import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { CachedImage, ImageCache } from "../image-cache.ts";
import { overlayName } from "../testdrive/disk.ts";
import { serialLogName, type Qemu } from "../testdrive/qemu.ts";
import type { SessionDir } from "../testdrive/session-dir.ts";
import { flush, stateName, takeOverlay } from "./files.ts";
import { saveState } from "./save-state.ts";

/** The limit for the screen's memory, firmware, and the state of devices. */
const maxDeviceBytes = 64 * 1024 ** 2;

export interface StoredMachine {
  key: string;
  image: CachedImage;
  cache: ImageCache;
  dir: SessionDir;
  testdriveId: number;
  memoryMb: number;
  signal: AbortSignal;
}

/** Saves a machine's state and disk as a snapshot of its image, and ends the machine. Replaces an older snapshot. */
export async function storeSnapshot(qemu: Qemu, machine: StoredMachine): Promise<void> {
  const { key, image, cache, dir, memoryMb } = machine;
  const folder = cache.incoming(`${key}.snapshot`);
  try {
    await mkdir(folder, { mode: 0o700 });
    const maxBytes = memoryMb * 1024 ** 2 + maxDeviceBytes;
    await saveState(qemu, join(folder, stateName), { ...machine, maxBytes });
    await qemu[Symbol.asyncDispose](); // QEMU writes the disk's tables, and unlocks the disk
    await takeOverlay(dir.file(overlayName), join(folder, overlayName));
    await rename(dir.file(serialLogName), join(folder, serialLogName));
    await flush([join(folder, stateName), folder]);
    await cache.dropSnapshot(image, key);
    await cache.putSnapshot(image, key, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
