import type { Transform } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { rest } from "#lib/loop/pace";
import { RepodataFault } from "./fault.ts";
import { peek, streamOf } from "./streams.ts";

export type Compression = "gzip" | "zstd" | "xz" | "bzip2" | "none";

/** Decompresses formats that the runtime cannot: the solver's WASM contains decoders for xz and bzip2. */
export type OtherDecompressor = (
  kind: "xz" | "bzip2",
  compressed: ReadableStream<Uint8Array>,
) => ReadableStream<Uint8Array>;

const magics: readonly [Compression, readonly number[]][] = [
  ["gzip", [0x1f, 0x8b]],
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ["bzip2", [0x42, 0x5a, 0x68]],
];
const maxMagicBytes = 6;
const chunkSize = 1 << 16; // bytes of output per chunk
const maxFrames = 4096; // pzstd writes one frame every few MiB

/** A decoder of node:zlib. `bytesWritten` is the number of bytes that it has really consumed. */
type Decoder = Transform & { readonly bytesWritten: number };

/** Recognises the compression by the first bytes, because a file name may be wrong. */
export const compressionOf = (start: Uint8Array): Compression =>
  magics.find(([, magic]) => magic.every((byte, index) => start[index] === byte))?.[0] ?? "none";

/** Decompresses gzip and zstd, and with `other` xz and bzip2. Passes other bytes through. */
export async function decompressed(
  source: ReadableStream<Uint8Array>,
  other: OtherDecompressor,
): Promise<ReadableStream<Uint8Array>> {
  const { start, stream } = await peek(source, maxMagicBytes);
  const kind = compressionOf(start);
  switch (kind) {
    case "none":
      return stream;
    // Not DecompressionStream: it decompresses a whole chunk before it returns the first byte (a chunk of 255 KiB may
    // take 256 MiB of memory), and it refuses files with several gzip members.
    case "gzip":
      return openedStream(stream, () => createGunzip({ chunkSize }), kind);
    case "zstd":
      return openedStream(stream, () => createZstdDecompress({ chunkSize }), kind);
    default:
      return other(kind, stream);
  }
}

function openedStream(source: ReadableStream<Uint8Array>, newDecoder: () => Decoder, kind: Compression) {
  const reader = source.getReader();
  return streamOf(opened(reader, newDecoder, kind), () => reader.cancel());
}

/**
 * Pumps a stream through decoders. One is nearly always enough, but a zstd decoder ends with its frame, even if its
 * last chunk continues. Rethrows an error of the source. An error of the decoder means damaged data.
 */
async function* opened(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  newDecoder: () => Decoder,
  kind: Compression,
): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array | undefined = new Uint8Array(0);
  try {
    for (let frames = 0; rest; frames++) {
      if (frames > maxFrames) throw damaged(kind);
      rest = yield* throughDecoder(reader, rest, newDecoder(), kind);
    }
  } finally {
    await reader.cancel().catch(() => {}); // fails if the source has failed, and that error is already thrown
  }
}

/** Yields the output, and returns the bytes that belong to the next frame; undefined if there are none. */
async function* throughDecoder(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  first: Uint8Array,
  decoder: Decoder,
  kind: Compression,
): AsyncGenerator<Uint8Array, Uint8Array | undefined> {
  const failed: { source?: unknown } = {};
  const pumping = pump(reader, first, decoder).catch((error: unknown) => {
    failed.source = error;
    decoder.destroy(new Error("the source failed"));
    return undefined;
  });
  try {
    for await (const chunk of decoder) {
      await rest();
      yield new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
  } catch (error) {
    throw "source" in failed ? failed.source : damaged(kind, error);
  } finally {
    decoder.destroy();
  }
  return pumping;
}

const damaged = (kind: Compression, cause?: unknown) =>
  new RepodataFault("damaged_compression", `the ${kind} data is damaged or truncated`, { cause });

async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  first: Uint8Array,
  decoder: Decoder,
): Promise<Uint8Array | undefined> {
  for (let chunk = first; ;) {
    const before = decoder.bytesWritten;
    await taken(decoder, chunk);
    const takenBytes = decoder.bytesWritten - before;
    if (takenBytes < chunk.byteLength) return chunk.subarray(takenBytes);
    const { done, value } = await reader.read();
    if (decoder.destroyed) return undefined;
    if (done) {
      decoder.end();
      return undefined;
    }
    chunk = value;
  }
}

/** Resolves when all output of the chunk has been read, so nothing piles up. A destroyed decoder calls nothing back. */
function taken(decoder: Decoder, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (chunk.byteLength === 0) return resolve();
    decoder.once("close", resolve);
    decoder.write(chunk, () => {
      decoder.off("close", resolve);
      resolve();
    });
  });
}
