import { createHash, hash } from "node:crypto";
import { closeSync, constants as flags, openSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { constants, createZstdCompress, zstdCompress } from "node:zlib";
import type { PartedFile } from "../upload/parted-file.ts";

/** Files up to this size are compressed in memory, several at a time. Larger files are streamed. */
const smallBytes = 1024 * 1024;
/** The fastest level: a file is rarely read back, and a build waits. */
const options = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};
const packed = promisify<Buffer, typeof options, Buffer>(zstdCompress);

/** A file that was read once: the identity of its content, and where to read it again. */
export interface ReadContent {
  hostPath: string;
  digest: string;
  size: number;
}

/** The place of a file's content in the store. */
export interface Frame {
  offset: number;
  length: number;
}

/** Writes the frames of a file store, one for each distinct content, in the order in which they are added. */
export class FileContents {
  readonly #file: PartedFile;
  readonly #signal: AbortSignal;
  /** Compression starts when content is first read. An entry stays until it is written. */
  readonly #packing = new Map<string, Promise<Buffer>>();
  readonly #frames = new Map<string, Frame>();

  constructor(file: PartedFile, signal: AbortSignal) {
    this.#file = file;
    this.#signal = signal;
  }

  /** The first frame is empty: empty files share it, and so the store is never empty. */
  async begin(): Promise<void> {
    this.#packing.set(nothing.digest, packed(Buffer.alloc(0), options));
    await this.add(nothing);
  }

  /** Reads a file. If its content is small and new, starts to compress it. */
  async read(hostPath: string, bytes: number): Promise<ReadContent> {
    this.#signal.throwIfAborted();
    return bytes <= smallBytes ? this.#readSmall(hostPath) : await this.#readLarge(hostPath);
  }

  /** Writes the content, if it is new. Await each call before the next. */
  async add({ hostPath, digest, size }: ReadContent): Promise<void> {
    if (this.#frames.has(digest)) return;
    const offset = this.#file.bytes;
    const small = this.#packing.get(digest);
    if (small) await this.#file.write(await small);
    else await this.#compress({ hostPath, digest, size });
    this.#frames.set(digest, { offset, length: this.#file.bytes - offset });
    this.#packing.delete(digest);
  }

  /** The place of added content. */
  frameOf({ hostPath, digest }: ReadContent): Frame {
    const frame = this.#frames.get(digest);
    if (!frame) throw new Error(`${hostPath} was not written`);
    return frame;
  }

  /** Synchronous: a root that was just written is in memory, so using another thread would take longer than reading. */
  #readSmall(hostPath: string): ReadContent {
    const bytes = readRegular(hostPath);
    const digest = hash("sha256", bytes, "base64");
    if (!this.#frames.has(digest) && !this.#packing.has(digest)) {
      const packing = packed(bytes, options);
      packing.catch(() => {}); // `add` throws it
      this.#packing.set(digest, packing);
    }
    return { hostPath, digest, size: bytes.length };
  }

  async #readLarge(hostPath: string): Promise<ReadContent> {
    await using file = await openRegular(hostPath);
    const digest = createHash("sha256");
    let size = 0;
    for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: smallBytes })) {
      this.#signal.throwIfAborted();
      digest.update(chunk);
      size += chunk.length;
    }
    return { hostPath, digest: digest.digest("base64"), size };
  }

  /** If the file has changed since it was read, the bytes written so far stay in the store, unused. */
  async #compress({ hostPath, digest }: ReadContent): Promise<void> {
    await using file = await openRegular(hostPath);
    const read = createHash("sha256");
    const source = file.createReadStream({ autoClose: false, highWaterMark: smallBytes });
    const hashed = async function* () {
      for await (const chunk of source) {
        read.update(chunk);
        yield chunk;
      }
    };
    const encoder = createZstdCompress({ ...options, chunkSize: smallBytes });
    const pumping = pipeline(hashed, encoder, { signal: this.#signal });
    pumping.catch(() => {}); // the encoder's reader gets the error too
    for await (const bytes of encoder) await this.#file.write(bytes);
    await pumping;
    if (read.digest("base64") !== digest) throw new Error(`${hostPath} changed while it was being read`);
  }
}

const nothing: ReadContent = { hostPath: "", digest: hash("sha256", "", "base64"), size: 0 };

/** The caller has checked that it is a regular file. If it has become a link since, it is not followed. */
const regular = flags.O_RDONLY | flags.O_NOFOLLOW | flags.O_NONBLOCK;
const openRegular = (hostPath: string) => open(hostPath, regular);

function readRegular(hostPath: string): Buffer {
  const file = openSync(hostPath, regular);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}
