import { open, rm, type FileHandle } from "node:fs/promises";
import type { Sides } from "./compare.ts";
import { rawDisk } from "./disk.ts";
import { rootFileSystem } from "./file-system.ts";
import { overlayDisk } from "./qcow2.ts";

/** A session's disk at one moment, and the image that it started from. Dispose of it to close the overlay. */
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

/**
 * Enough for two clients that save files and one that only reads. Each reading of a running machine copies its overlay.
 */
const maxHeld = 3;
/** All readings are closed after this time without a request. */
const idleMs = 2 * 60_000;

/** The most recently used readings, so that later orders can continue from the same moment as a list. */
export class Readings {
  /** The least recently used first. */
  readonly #held = new Map<string, Reading>();
  #idle: NodeJS.Timeout | undefined;

  find(id: string): Reading | undefined {
    const found = this.#held.get(id);
    if (!found) return undefined;
    this.#held.delete(id);
    this.#held.set(id, found);
    this.#restSoon();
    return found;
  }

  async hold(reading: Reading): Promise<void> {
    this.#held.set(reading.id, reading);
    this.#restSoon();
    for (const [id] of [...this.#held].slice(0, -maxHeld)) await this.#drop(id);
  }

  async dropAll(): Promise<void> {
    clearTimeout(this.#idle);
    for (const id of this.#held.keys()) await this.#drop(id);
  }

  async #drop(id: string): Promise<void> {
    const reading = this.#held.get(id);
    this.#held.delete(id);
    await reading?.[Symbol.asyncDispose]();
  }

  #restSoon(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.dropAll().catch(() => {}), idleMs).unref();
  }
}
