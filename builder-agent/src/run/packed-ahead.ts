import { lstatSync, type BigIntStats } from "node:fs";
import type { FileContents, ReadContent } from "./file-contents.ts";
import type { Found } from "./root-walk.ts";

/** If a file changed this shortly before it was read, it may change again without a new time. */
const settledNs = 500_000_000n;

/**
 * Adds the contents of a root to its file store while KIWI makes the image from it and leaves a processor idle. KIWI
 * still changes files, so a content counts only if its file is still unchanged later. Other files are read again, and
 * their first contents stay in the store, unused.
 */
export class PackedAhead {
  readonly #known = new Map<string, { content: ReadContent; identity: string }>();
  readonly #contents: FileContents;
  readonly #working: Promise<void>;
  #isOver = false;

  /** Starts immediately. */
  constructor(entries: AsyncIterable<Found>, contents: FileContents) {
    this.#contents = contents;
    // A directory may disappear. The rest is read later.
    this.#working = this.#work(entries).catch(() => {});
  }

  /** Stops after the current file. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#working;
  }

  /** The content of that file, if the file has not changed since. */
  find(hostPath: string): ReadContent | undefined {
    const known = this.#known.get(hostPath);
    return known && known.identity === identityOf(lstatSync(hostPath, { bigint: true })) ? known.content : undefined;
  }

  /** Reads one file at a time, so that KIWI gets the processors first. */
  async #work(entries: AsyncIterable<Found>): Promise<void> {
    for await (const found of entries) {
      if (this.#isOver) return;
      // A file that cannot be read now is read later. A store that cannot be written fails later too.
      if (found.type === "f" && found.size > 0) await this.#add(found).catch(() => {});
    }
  }

  async #add({ hostPath, size }: Found): Promise<void> {
    const began = BigInt(Date.now()) * 1_000_000n;
    const before = lstatSync(hostPath, { bigint: true });
    const identity = identityOf(before);
    if (before.ctimeNs > began - settledNs) return;
    const content = await this.#contents.read(hostPath, size);
    await this.#contents.add(content);
    if (identityOf(lstatSync(hostPath, { bigint: true })) === identity)
      this.#known.set(hostPath, { content, identity });
  }
}

/** Every change updates the ctime, which no program can set. */
const identityOf = ({ dev, ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, mode, size, mtimeNs, ctimeNs].join(" ");
