/** Decompression of xz and bzip2, which the Worker runtime lacks, with limits on the output. */
import { rest } from "#lib/loop/pace";
import type { Address, Native, NativeExports } from "./native.ts";

export type Compression = "xz" | "bzip2";

export interface ExpansionLimits {
  /** Limit of the whole output. */
  maxBytes: number;
  /**
   * Output bytes per input byte. Checked only after the first MiB of output, because small files of zeros are
   * legitimate.
   */
  maxRatio: number;
}

export interface DecoderLimits extends ExpansionLimits {
  /** Memory for xz's dictionary. `xz -6` needs 9 MiB, `-8` 33 MiB, `-9` 65 MiB. */
  memoryBytes?: number;
}

export class DecompressionRefused extends Error {
  readonly reason: "damaged" | "too_much_memory" | "truncated" | "too_large";

  constructor(reason: DecompressionRefused["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

const ratioFreeBytes = 1 << 20;
const defaultMemoryBytes = 40 << 20;
const refusals: Record<number, [DecompressionRefused["reason"], string]> = {
  [-1]: ["damaged", "the compressed data is damaged"],
  [-2]: ["too_much_memory", "decompressing would take too much memory"],
  [-3]: ["truncated", "the compressed data ends too early"],
};

/** Refuses data that expands beyond its limits. Used for our decoders and for the runtime's own. */
export class ExpansionGuard {
  readonly #limits: ExpansionLimits;
  #inBytes = 0;
  #outBytes = 0;

  constructor(limits: ExpansionLimits) {
    this.#limits = limits;
  }

  took(bytes: number): void {
    this.#inBytes += bytes;
  }

  gave(bytes: number): void {
    this.#outBytes += bytes;
    const { maxBytes, maxRatio } = this.#limits;
    if (this.#outBytes > maxBytes)
      throw new DecompressionRefused("too_large", `decompresses to more than ${maxBytes} bytes`);
    if (this.#outBytes > ratioFreeBytes && this.#outBytes > this.#inBytes * maxRatio) {
      throw new DecompressionRefused("too_large", `expands to more than ${maxRatio} times its size`);
    }
  }
}

export class Decoder {
  readonly #native: Native;
  readonly #guard: ExpansionGuard;
  readonly #decoder: Address;
  #isOpen = true;

  constructor(
    native: Native,
    compression: Compression,
    { memoryBytes = defaultMemoryBytes, ...limits }: DecoderLimits,
  ) {
    this.#native = native;
    this.#guard = new ExpansionGuard(limits);
    this.#decoder = native.call((exports) => exports.kiln_decoder(compression === "xz" ? 1 : 0, memoryBytes));
    if (this.#decoder === 0) throw refused(-2);
  }

  /** Decompresses one chunk, into pieces of at most 256 KiB. */
  *push(chunk: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
    const step = this.#native.call((exports) => exports.kiln_decoder_input_bytes());
    for (let position = 0; position < chunk.length; position += step) {
      const piece = chunk.subarray(position, position + step);
      this.#fill(piece);
      yield* this.#drain(0);
    }
  }

  /** Returns the rest of the output, after the last chunk. */
  *finish(): Generator<Uint8Array<ArrayBuffer>> {
    this.#fill(new Uint8Array());
    yield* this.#drain(1);
  }

  /** Frees the memory. Harmless if called twice. */
  close(): void {
    if (this.#isOpen && !this.#native.isGone) this.#native.call((exports) => exports.kiln_decoder_free(this.#decoder));
    this.#isOpen = false;
  }

  #fill(piece: Uint8Array): void {
    this.#native.call((exports) => {
      this.#native.bytes().set(piece, exports.kiln_decoder_input(this.#decoder));
      exports.kiln_decoder_fill(this.#decoder, piece.length);
    });
    this.#guard.took(piece.length);
  }

  *#drain(isLast: 0 | 1): Generator<Uint8Array<ArrayBuffer>> {
    const decode = (exports: NativeExports) => exports.kiln_decode(this.#decoder, isLast);
    for (let length = this.#native.call(decode); length !== 0; length = this.#native.call(decode)) {
      if (length < 0) throw refused(length);
      this.#guard.gave(length);
      const start = this.#native.call((exports) => exports.kiln_decoder_output(this.#decoder));
      yield this.#native.bytes().slice(start, start + length);
    }
  }
}

/** Decompresses a stream, with rests, and closes the decoder in any case. */
export async function* decompressed(
  decoder: Decoder,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    for await (const chunk of source) {
      await rest();
      yield* rested(decoder.push(chunk));
    }
    yield* rested(decoder.finish());
  } finally {
    decoder.close();
  }
}

async function* rested(pieces: Iterable<Uint8Array<ArrayBuffer>>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (const piece of pieces) {
    await rest();
    yield piece;
  }
}

function refused(code: number): DecompressionRefused {
  return new DecompressionRefused(
    ...(refusals[code] ?? (["damaged", `the decoder failed with code ${code}`] as const)),
  );
}
