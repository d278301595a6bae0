import { createHash } from "node:crypto";
import { beginUpload, type BegunUpload } from "./begun-uploads.ts";
import { PartBuffer } from "./part-buffer.ts";

/** The size and digests of a stored blob. */
export interface StoredBlob {
  size: number;
  md5: string;
  sha256: string;
}

/** Streams bytes of unknown length into R2. If it fails, nothing is stored. Holds one part in memory. */
export async function putBlob(blobs: R2Bucket, key: string, source: ReadableStream<Uint8Array>): Promise<StoredBlob> {
  const writer = new BlobWriter(blobs, key);
  try {
    const stored = await measured(source, (chunk) => writer.write(chunk));
    await writer.complete();
    return stored;
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** Like `putBlob`, but for bytes that are already stored: it only reads the stream to the end. */
export const measureBlob = (source: AsyncIterable<Uint8Array>): Promise<StoredBlob> => measured(source, async () => {});

async function measured(
  source: AsyncIterable<Uint8Array>,
  take: (chunk: Uint8Array) => Promise<void>,
): Promise<StoredBlob> {
  const [md5, sha256] = [createHash("md5"), createHash("sha256")];
  let size = 0;
  for await (const chunk of source) {
    md5.update(chunk);
    sha256.update(chunk);
    size += chunk.byteLength;
    await take(chunk);
  }
  return { size, md5: md5.digest("hex"), sha256: sha256.digest("hex") };
}

/** Writes an object in parts, or in one put if it fits into a single part. The object is not visible until `complete`. */
export class BlobWriter {
  readonly #blobs: R2Bucket;
  readonly #key: string;
  readonly #parts: R2UploadedPart[] = [];
  readonly #buffer = new PartBuffer();
  #upload: BegunUpload | undefined;
  #sentBytes = 0;

  constructor(blobs: R2Bucket, key: string) {
    this.#blobs = blobs;
    this.#key = key;
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; rest.byteLength > 0;) {
      if (this.#buffer.isFull) await this.#sendPart();
      rest = this.#buffer.add(rest);
    }
  }

  /** Returns the number of bytes. */
  async complete(): Promise<number> {
    const bytes = await this.#completed();
    this.#buffer.free();
    return bytes;
  }

  async abort(): Promise<void> {
    this.#buffer.free();
    await this.#upload?.abort();
  }

  async #completed(): Promise<number> {
    if (!this.#upload) {
      await this.#blobs.put(this.#key, this.#buffer.held());
      return this.#buffer.bytes;
    }
    await this.#sendPart();
    const { size } = await this.#upload.complete(this.#parts);
    if (size !== this.#sentBytes) throw new Error(`${this.#key} has ${size} bytes in R2, ${this.#sentBytes} were sent`);
    return size;
  }

  async #sendPart(): Promise<void> {
    this.#upload ??= await beginUpload(this.#blobs, this.#key);
    this.#parts.push(await this.#upload.uploadPart(this.#parts.length + 1, this.#buffer.held()));
    this.#sentBytes += this.#buffer.bytes;
    this.#buffer.clear();
  }
}
