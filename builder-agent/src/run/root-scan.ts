import { closeSync, constants as flags, openSync, readSync } from "node:fs";
import { Turns } from "../turns.ts";
import type { Found, RootTree } from "./root-walk.ts";

/** All entries of a root, in turns with other work. Throws the signal's reason when it is aborted. */
export async function* scan(root: RootTree, signal: AbortSignal): AsyncGenerator<Found> {
  const turns = new Turns();
  for await (const found of root.entries()) {
    if (turns.isOver()) await turns.next();
    signal.throwIfAborted();
    yield found;
  }
}

/**
 * The first bytes of a file. The walk has found a regular file. If it has become something else since, it is not read.
 */
export function startOf({ hostPath, size }: Found, maxBytes: number): Buffer {
  if (size === 0) return Buffer.alloc(0);
  const file = openSync(hostPath, flags.O_RDONLY | flags.O_NOFOLLOW | flags.O_NONBLOCK);
  try {
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    return bytes.subarray(0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

/**
 * The texts of files up to 256 MiB, which is several times what a desktop's packages need. Hundreds of thousands of
 * names may be links to one large file.
 */
export class FileTexts {
  #bytesLeft = 256 * 1024 * 1024;

  /** Empty if the file is larger than `maxBytes`, or if the limit of all files is reached. */
  of(found: Found, maxBytes: number): string {
    if (found.size > Math.min(maxBytes, this.#bytesLeft)) return "";
    this.#bytesLeft -= found.size;
    return startOf(found, maxBytes).toString("utf8");
  }
}
