import { createHash, hash } from "node:crypto";
import { constants as flags } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { constants, createZstdCompress, zstdCompress } from "node:zlib";
import type { PackedAhead, ReadyContent } from "./packed-ahead.ts";

/** Files up to this are compressed in memory, several at a time; larger ones stream. */
const smallBytes = 1024 * 1024;
/** Fast: a file is read back seldom, and a build waits. */
const options = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};
const packed = promisify<Buffer, typeof options, Buffer>(zstdCompress);

/** A file that was read once: what its content is known by, and where it can be read again. */
export interface ReadContent {
  place: string;
  digest: string;
  size: number;
}

/** Where a content's frame lies. */
export interface Frame {
  offset: number;
  length: number;
}

/** The frames of a file store, one for each content, in the order in which the contents are asked for. */
export class FileContents {
  readonly #signal: AbortSignal;
  readonly #ahead: PackedAhead | undefined;
  /** Those that are to be copied, by their digests. */
  readonly #ready = new Map<string, ReadyContent>();
  /** Begun when a content was first read, kept until it is written. */
  readonly #packing = new Map<string, Promise<Buffer>>();
  readonly #frames = new Map<string, Frame>();
  #offset = 0;

  constructor(signal: AbortSignal, ahead?: PackedAhead) {
    this.#signal = signal;
    this.#ahead = ahead;
  }

  /** The first frame holds nothing: empty files share it, and no store is without bytes. */
  async *begin(): AsyncGenerator<Buffer> {
    this.#packing.set(nothing.digest, packed(Buffer.alloc(0), options));
    yield* this.bytesOf(nothing);
  }

  /** Reads a file and, when it is small and new, begins to compress it; one that was compressed ahead is neither. */
  async read(place: string, bytes: number): Promise<ReadContent> {
    const ready = await this.#ahead?.find(place);
    if (ready) {
      this.#ready.set(ready.digest, ready);
      return ready;
    }
    return bytes <= smallBytes ? await this.#readSmall(place) : await this.#readLarge(place);
  }

  /** The bytes that are to be written for it: none when its content is there already. */
  async *bytesOf({ place, digest, size }: ReadContent): AsyncGenerator<Buffer> {
    if (this.#frames.has(digest)) return;
    const offset = this.#offset;
    for await (const bytes of this.#packed({ place, digest, size })) {
      this.#offset += bytes.length;
      yield bytes;
    }
    this.#frames.set(digest, { offset, length: this.#offset - offset });
    this.#packing.delete(digest);
  }

  /** Where it lies, after its bytes were written. */
  frameOf({ place, digest }: ReadContent): Frame {
    const frame = this.#frames.get(digest);
    if (!frame) throw new Error(`${place} was not written`);
    return frame;
  }

  async *#packed({ place, digest, size }: ReadContent): AsyncGenerator<Buffer> {
    const [small, ready] = [this.#packing.get(digest), this.#ready.get(digest)];
    if (small) yield await small;
    else if (ready && this.#ahead) yield* this.#ahead.bytesOf(ready);
    else yield* this.#compress(place, size);
  }

  async #readSmall(place: string): Promise<ReadContent> {
    await using file = await openRegular(place);
    const bytes = await file.readFile();
    const digest = hash("sha256", bytes, "base64");
    if (!this.#frames.has(digest) && !this.#packing.has(digest)) {
      const packing = packed(bytes, options);
      packing.catch(() => {}); // thrown where it is asked for
      this.#packing.set(digest, packing);
    }
    return { place, digest, size: bytes.length };
  }

  async #readLarge(place: string): Promise<ReadContent> {
    await using file = await openRegular(place);
    const digest = createHash("sha256");
    let size = 0;
    for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: smallBytes })) {
      this.#signal.throwIfAborted();
      digest.update(chunk);
      size += chunk.length;
    }
    return { place, digest: digest.digest("base64"), size };
  }

  async *#compress(place: string, size: number): AsyncGenerator<Buffer> {
    await using file = await openRegular(place);
    const source = file.createReadStream({ autoClose: false, highWaterMark: smallBytes });
    const encoder = createZstdCompress(options);
    const pumping = pipeline(source, encoder, { signal: this.#signal });
    pumping.catch(() => {}); // the reader of the encoder hears of it, too
    yield* encoder;
    await pumping;
    if (source.bytesRead !== size) throw new Error(`${place} has changed while it was read`);
  }
}

const nothing: ReadContent = { place: "", digest: hash("sha256", "", "base64"), size: 0 };

/** The caller has seen that it is a regular file; should it have become a link, it is not followed. */
const openRegular = (place: string) => open(place, flags.O_RDONLY | flags.O_NOFOLLOW | flags.O_NONBLOCK);
