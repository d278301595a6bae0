/** R2 requires that all parts except the last have the same size, at least 5 MiB. */
export const partBytes = 8 * 2 ** 20;

/**
 * The bytes of one part while they arrive. All parts share one buffer, because a new buffer for each would hold memory
 * until the garbage collector runs.
 */
export class PartBuffer {
  #buffer = new Uint8Array(1 << 16);
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#bytes === partBytes;
  }

  /** Adds the bytes that fit into the part; returns the rest. */
  add(chunk: Uint8Array): Uint8Array {
    const taken = chunk.subarray(0, partBytes - this.#bytes);
    this.#makeRoom(this.#bytes + taken.byteLength);
    this.#buffer.set(taken, this.#bytes);
    this.#bytes += taken.byteLength;
    return chunk.subarray(taken.byteLength);
  }

  /** The bytes so far. Valid until the next `add`. */
  held(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#bytes);
  }

  clear(): void {
    this.#bytes = 0;
  }

  /** Frees its memory now: V8 collects garbage only after several buffers of this size. */
  free(): void {
    this.#bytes = 0;
    this.#buffer = new Uint8Array(this.#buffer.buffer.transfer(0));
  }

  #makeRoom(neededBytes: number): void {
    if (neededBytes <= this.#buffer.byteLength) return;
    const roomBytes = Math.min(partBytes, Math.max(neededBytes, 2 * this.#buffer.byteLength));
    this.#buffer = new Uint8Array(this.#buffer.buffer.transfer(roomBytes)); // copies it and frees the smaller one
  }
}
