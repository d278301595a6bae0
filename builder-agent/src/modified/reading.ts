import { open, rm, type FileHandle } from "node:fs/promises";
import type { Sides } from "./compare.ts";
import { rawDisk } from "./disk.ts";
import { rootFileSystem } from "./file-system.ts";
import { overlayDisk } from "./qcow2.ts";

/** A session's disk at one moment, and the image that it started from. Disposing of it closes the overlay. */
export interface Reading extends AsyncDisposable {
  id: string;
  sides: Sides;
}

export interface ReadingFiles {
  /** The raw disk below the overlay. */
  image: FileHandle;
  overlay: string;
  /** The overlay is a copy, and is deleted with the reading. */
  isCopy: boolean;
}

export async function openReading({ image, overlay, isCopy }: ReadingFiles): Promise<Reading> {
  await using stack = new AsyncDisposableStack();
  if (isCopy) stack.defer(() => rm(overlay, { force: true }));
  const top = stack.use(await open(overlay));
  const base = rawDisk(image, (await image.stat()).size);
  const sides = { before: await rootFileSystem(base), after: await rootFileSystem(await overlayDisk(top, base)) };
  const held = stack.move();
  return { id: crypto.randomUUID(), sides, [Symbol.asyncDispose]: () => held.disposeAsync() };
}
