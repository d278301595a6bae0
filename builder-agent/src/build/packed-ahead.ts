import { lstatSync, type BigIntStats } from "node:fs";
import type { FileContents, ReadContent } from "./file-contents.ts";
import type { Found } from "./root-walk.ts";

/** A file that was changed less than this before it was read may be changed once more without another time to show for it. */
const settledNs = 500_000_000n;

/**
 * Adds the contents of a root to its file store while KIWI makes the image from it, which leaves a processor idle. KIWI still
 * changes files, so each content counts only for a file that is the very same one later; all others are read again. What no file
 * of the image has in the end stays in the store, and nothing leads to it.
 */
export class PackedAhead {
  readonly #known = new Map<string, { content: ReadContent; identity: string }>();
  readonly #contents: FileContents;
  readonly #working: Promise<void>;
  #isOver = false;

  /** Starts immediately. */
  constructor(entries: AsyncIterable<Found>, contents: FileContents) {
    this.#contents = contents;
    // A directory that has just gone: the rest is read in its time.
    this.#working = this.#work(entries).catch(() => {});
  }

  /** Ends with the file that it is at. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#working;
  }

  /** The content of that file, if it was not changed since. */
  find(place: string): ReadContent | undefined {
    const known = this.#known.get(place);
    return known && known.identity === identityOf(lstatSync(place, { bigint: true })) ? known.content : undefined;
  }

  /** One file at a time, so that KIWI gets the processors first. */
  async #work(entries: AsyncIterable<Found>): Promise<void> {
    for await (const found of entries) {
      if (this.#isOver) return;
      // What cannot be read now will be read or missed in its time; a store that cannot be written will say so then.
      if (found.type === "f" && found.size > 0) await this.#add(found).catch(() => {});
    }
  }

  async #add({ place, size }: Found): Promise<void> {
    const began = BigInt(Date.now()) * 1_000_000n;
    const before = lstatSync(place, { bigint: true });
    const identity = identityOf(before);
    if (before.ctimeNs > began - settledNs) return;
    const content = await this.#contents.read(place, size);
    await this.#contents.add(content);
    if (identityOf(lstatSync(place, { bigint: true })) === identity) this.#known.set(place, { content, identity });
  }
}

/** Any change updates the ctime, which no program can set back. */
const identityOf = ({ dev, ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, mode, size, mtimeNs, ctimeNs].join(" ");
