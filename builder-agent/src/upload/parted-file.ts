import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { partBytes } from "../contract.ts";
import { writeAll } from "../files.ts";
import { openDigests, type Digests } from "./checksum.ts";
import type { FilePart, UploadFile, UploadSource } from "./upload.ts";

/** A file that is written from start to end. Digests are computed on the way, and parts can be sent before the end. */
export class PartedFile implements UploadSource, AsyncDisposable {
  readonly path: string;
  readonly fileName: string;
  readonly #file: FileHandle;
  readonly #digests = openDigests();
  /** Rejected if the file will not be completed. */
  readonly #broken = Promise.withResolvers<never>();
  #failure: Error | undefined;
  #bytes = 0;
  /** How many parts are on the disk. */
  #ready = 0;
  #ended: Digests | undefined;
  #news = Promise.withResolvers<void>();

  private constructor(file: FileHandle, path: string, fileName: string) {
    this.#file = file;
    this.path = path;
    this.fileName = fileName;
    this.#broken.promise.catch(() => {}); // reported to the waiters for parts
  }

  static async create(dir: string, fileName: string): Promise<PartedFile> {
    const path = join(dir, fileName);
    return new PartedFile(await open(path, "w", 0o644), path, fileName);
  }

  /** The position of the next bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Await each call before the next. After a failed call the file is unusable. */
  async write(bytes: Buffer): Promise<void> {
    if (this.#failure) throw this.#failure;
    try {
      const writing = writeAll(this.#file, bytes, this.#bytes);
      this.#bytes += bytes.length;
      this.#digests.take(bytes);
      await writing;
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      this.#broken.reject(error);
      throw error;
    }
    if (this.#digests.parts.length > this.#ready) this.#notify();
  }

  async end(): Promise<UploadFile> {
    if (this.#failure) throw this.#failure;
    await this.#file.close();
    const digests = this.#digests.result();
    this.#ended = digests;
    this.#notify();
    return { path: this.path, fileName: this.fileName, digests };
  }

  /** Ends the wait for parts of an incomplete file. Does nothing to a complete one. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#broken.reject(new Error(`${this.fileName} was not written completely`));
    await this.#file.close();
  }

  async *parts(): AsyncGenerator<FilePart> {
    for (let number = 1; ; number++) {
      while (number > this.#ready && !this.#ended) await Promise.race([this.#news.promise, this.#broken.promise]);
      const sha256 = this.#digests.parts[number - 1];
      if (number > this.#ready || sha256 === undefined) return;
      yield { number, sha256, bytes: Math.min(partBytes, this.#bytes - (number - 1) * partBytes) };
    }
  }

  async whole(): Promise<Digests> {
    if (!this.#ended) throw new Error(`${this.path} is still being written`);
    return this.#ended;
  }

  #notify(): void {
    this.#ready = this.#digests.parts.length;
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}
