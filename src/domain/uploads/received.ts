import type { Services } from "#domain/services";
import { expiryOf, isBusy } from "#domain/uploads/lease";
import { PartBuffer, partBytes } from "#storage/part-buffer";
import { deleteTail, readTail, putTail, putUploadPart, tailBytes } from "#storage/resumable-blobs";
import { listParts, recordProgress, type ResumableUpload, type StoredPart } from "#storage/resumable-uploads";

type Stores = Services<Pick<Env, "BLOBS">>;

/**
 * The bytes of an upload that have arrived. Each part is first stored in R2 and then recorded in the row. The last part
 * of a file is never recorded. It is stored when the file is finished, so that no upload is complete before its file
 * exists.
 */
export class Received {
  readonly #stores: Stores;
  readonly #upload: ResumableUpload;
  readonly #parts: StoredPart[];
  readonly #buffer = new PartBuffer();
  /** The number of bytes in the row. */
  #recordedBytes: number;

  private constructor(stores: Stores, upload: ResumableUpload, parts: StoredPart[]) {
    this.#stores = stores;
    this.#upload = upload;
    this.#parts = parts;
    this.#recordedBytes = upload.offset;
  }

  /** Starts with everything that earlier requests have stored. The caller must hold the upload's lease. */
  static async of(stores: Stores, upload: ResumableUpload): Promise<Received> {
    const received = new Received(stores, upload, await listParts(stores.db, upload.id));
    for await (const chunk of readTail(stores.env.BLOBS, upload)) received.#buffer.add(chunk);
    return received;
  }

  get bytes(): number {
    return this.#parts.length * partBytes + this.#buffer.bytes;
  }

  get parts(): readonly StoredPart[] {
    return this.#parts;
  }

  /** The bytes after the last part. */
  get rest(): Uint8Array<ArrayBuffer> {
    return this.#buffer.held();
  }

  /** Frees the memory. Nothing can be added after that. */
  [Symbol.dispose](): void {
    this.#buffer.free();
  }

  async take(chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; rest.byteLength > 0;) {
      if (this.#buffer.isFull) await this.#storePart();
      rest = this.#buffer.add(rest);
    }
  }

  /** Stores the rest, which is not in a part yet, so that the client can continue from there. */
  async store(): Promise<void> {
    if (this.bytes === this.#recordedBytes) return;
    if (this.#buffer.isFull) return await this.#storePart();
    await putTail(this.#stores.env.BLOBS, this.#upload, { end: this.bytes, bytes: this.#buffer.held() });
    await this.#record(this.bytes);
  }

  async #storePart(): Promise<void> {
    const { env } = this.#stores;
    const number = this.#parts.length + 1;
    const part = await putUploadPart(env.BLOBS, this.#upload, { number, bytes: this.#buffer.held() });
    await this.#record(number * partBytes, part);
    this.#parts.push(part);
    this.#buffer.clear();
  }

  async #record(offset: number, part?: StoredPart): Promise<void> {
    const { env, db } = this.#stores;
    const before = { ...this.#upload, offset: this.#recordedBytes };
    if (!(await recordProgress(db, this.#upload, { offset, expiresAt: expiryOf(Date.now()) }, part))) throw isBusy();
    this.#recordedBytes = offset;
    if (tailBytes(before) > 0) await deleteTail(env.BLOBS, before);
  }
}
