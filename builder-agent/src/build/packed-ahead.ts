import type { BigIntStats } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { join } from "node:path";
import { FileContents, type Frame, type ReadContent } from "./file-contents.ts";
import type { Found } from "./root-walk.ts";

/** A content that was compressed ahead: what it is known by, and where its frame lies in the spool. */
export type ReadyContent = ReadContent & { frame: Frame };

/** A file that was changed less than this before it was read may be changed once more without another time to show for it. */
const settledNs = 500_000_000n;

/**
 * Compresses contents of a root while KIWI makes the image from it, which leaves a processor idle. KIWI still changes files, so
 * each content counts only for a file that is the very same one later; all others are read again.
 */
export class PackedAhead {
  readonly #ready = new Map<string, { content: ReadyContent; identity: string }>();
  readonly #ending = new AbortController();
  readonly #working: Promise<void>;
  readonly #spool: string;

  /** Begins at once; `dir` takes the spool. */
  constructor(entries: AsyncIterable<Found>, dir: string) {
    this.#spool = join(dir, "ahead.zst");
    // What cannot be read now, a file that has just gone, will be read or missed in its time.
    this.#working = this.#work(entries).catch(() => {});
  }

  /** Stops where it is; what is ready stays so. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#working;
  }

  /** The content of that file, if nobody has touched it since. */
  async find(place: string): Promise<ReadyContent | undefined> {
    const known = this.#ready.get(place);
    return known && known.identity === identityOf(await lstat(place, { bigint: true })) ? known.content : undefined;
  }

  async *bytesOf({ frame }: ReadyContent): AsyncGenerator<Buffer> {
    await using spool = await open(this.#spool);
    const end = frame.offset + frame.length;
    for (let at = frame.offset; at < end;) {
      const { buffer, bytesRead } = await spool.read(Buffer.alloc(Math.min(pieceBytes, end - at)), { position: at });
      if (bytesRead === 0) throw new Error("the spool of compressed files is too short");
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  }

  /** One file after the other: KIWI goes first. */
  async #work(entries: AsyncIterable<Found>): Promise<void> {
    const { signal } = this.#ending;
    await using spool = await open(this.#spool, "wx", 0o600);
    const contents = new FileContents(signal);
    for await (const { type, place, size } of entries) {
      if (signal.aborted) return;
      if (type !== "f" || size === 0) continue;
      const began = BigInt(Date.now()) * 1_000_000n;
      const before = await lstat(place, { bigint: true });
      const identity = identityOf(before);
      const content = await contents.read(place, size);
      for await (const bytes of contents.bytesOf(content)) await spool.appendFile(bytes);
      const after = identityOf(await lstat(place, { bigint: true }));
      if (before.ctimeNs > began - settledNs || after !== identity) continue;
      this.#ready.set(place, { content: { ...content, frame: contents.frameOf(content) }, identity });
    }
  }
}

const pieceBytes = 1024 * 1024;

/** A change of any kind changes the ctime, which nobody can set back. */
const identityOf = ({ dev, ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, mode, size, mtimeNs, ctimeNs].join(" ");
