import { createHash } from "node:crypto";
import { beginUpload, type BegunUpload } from "./begun-uploads.ts";

/** R2 requires that all parts but the last have one size, at least 5 MiB. */
const partBytes = 8 * 2 ** 20;

/** What was stored. */
export interface StoredBlob {
  size: number;
  md5: string;
  sha256: string;
}

/** Streams bytes of unknown number into R2; when it fails, nothing of them stays. One part is in memory. */
export async function putBlob(blobs: R2Bucket, key: string, source: ReadableStream<Uint8Array>): Promise<StoredBlob> {
  const writer = new BlobWriter(blobs, key);
  const [md5, sha256] = [createHash("md5"), createHash("sha256")];
  try {
    for await (const chunk of source) {
      md5.update(chunk);
      sha256.update(chunk);
      await writer.write(chunk);
    }
    return { size: await writer.complete(), md5: md5.digest("hex"), sha256: sha256.digest("hex") };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** Writes an object in parts, or in one put if it fits into a single part. The object is not visible until `complete`. */
export class BlobWriter {
  readonly #blobs: R2Bucket;
  readonly #key: string;
  readonly #parts: R2UploadedPart[] = [];
  #upload: BegunUpload | undefined;
  // One buffer for all parts: a new one for each would take memory until the garbage collector runs.
  #buffer = new Uint8Array(1 << 16);
  #heldBytes = 0;
  #sentBytes = 0;

  constructor(blobs: R2Bucket, key: string) {
    this.#blobs = blobs;
    this.#key = key;
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.byteLength;) {
      if (this.#heldBytes === partBytes) await this.#sendPart();
      const piece = chunk.subarray(at, at + partBytes - this.#heldBytes);
      this.#hold(piece);
      at += piece.byteLength;
    }
  }

  /** How many bytes it has. */
  async complete(): Promise<number> {
    if (!this.#upload) {
      await this.#blobs.put(this.#key, this.#held());
      return this.#heldBytes;
    }
    await this.#sendPart();
    const { size } = await this.#upload.complete(this.#parts);
    if (size !== this.#sentBytes) throw new Error(`${this.#key} has ${size} bytes in R2, ${this.#sentBytes} came`);
    return size;
  }

  async abort(): Promise<void> {
    await this.#upload?.abort();
  }

  #hold(bytes: Uint8Array): void {
    const needed = this.#heldBytes + bytes.byteLength;
    if (needed > this.#buffer.byteLength) {
      const larger = new Uint8Array(Math.min(partBytes, Math.max(needed, 2 * this.#buffer.byteLength)));
      larger.set(this.#held());
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#heldBytes);
    this.#heldBytes = needed;
  }

  #held(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#heldBytes);
  }

  async #sendPart(): Promise<void> {
    this.#upload ??= await beginUpload(this.#blobs, this.#key);
    this.#parts.push(await this.#upload.uploadPart(this.#parts.length + 1, this.#held()));
    this.#sentBytes += this.#heldBytes;
    this.#heldBytes = 0;
  }
}
