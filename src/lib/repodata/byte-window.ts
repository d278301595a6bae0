import { Buffer } from "node:buffer";

/**
 * The part of a long stream that is still needed. Positions count from the start of the stream, so they stay valid when
 * bytes at the front are dropped.
 *
 *     stream   ......[dropped)[base        filled)...... not yet received
 */
export class ByteWindow {
  #buffer = Buffer.alloc(1 << 20);
  #base = 0;
  #filled = 0;

  get filled(): number {
    return this.#filled;
  }

  append(chunk: Uint8Array): void {
    const used = this.#filled - this.#base;
    if (used + chunk.byteLength > this.#buffer.byteLength) {
      const larger = Buffer.alloc(Math.max(2 * this.#buffer.byteLength, used + chunk.byteLength));
      larger.set(this.#buffer.subarray(0, used));
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, used);
    this.#filled += chunk.byteLength;
  }

  /** Moves the rest to the front, so that the buffer grows no larger than one slice needs. */
  forgetBefore(position: number): void {
    this.#buffer.copyWithin(0, position - this.#base, this.#filled - this.#base);
    this.#base = position;
  }

  byteAt(position: number): number | undefined {
    return position < this.#filled ? this.#buffer[position - this.#base] : undefined;
  }

  view(from: number, to: number): Uint8Array {
    return this.#buffer.subarray(from - this.#base, to - this.#base);
  }

  indexOf(needle: Buffer, from: number): number | undefined {
    const at = this.#buffer.subarray(0, this.#filled - this.#base).indexOf(needle, Math.max(0, from - this.#base));
    return at < 0 ? undefined : at + this.#base;
  }
}

/** Searches a window for one text. It reads no byte twice, however small the chunks are. */
export class Needle {
  readonly bytes: Buffer;
  readonly #window: ByteWindow;
  #foundAt: number | undefined;
  #searchedTo = 0;

  constructor(window: ByteWindow, text: string) {
    this.#window = window;
    this.bytes = Buffer.from(text, "latin1");
  }

  /** The first position of the text at or after `from`. */
  find(from: number): number | undefined {
    if (this.#foundAt !== undefined && this.#foundAt >= from) return this.#foundAt;
    // The last chunk may already contain the first bytes of the text.
    const start = Math.max(from, this.#searchedTo - this.bytes.byteLength + 1);
    this.#foundAt = this.#window.indexOf(this.bytes, start);
    this.#searchedTo = this.#foundAt ?? this.#window.filled;
    return this.#foundAt;
  }
}
