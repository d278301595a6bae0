import type { Transform } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { RepodataFault } from "./fault.ts";
import { peek, streamOf } from "./streams.ts";

export type Compression = "gzip" | "zstd" | "xz" | "bzip2" | "none";

/** Opens what the runtime cannot: the solver's WASM holds the decoders of xz and bzip2. */
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
const longestMagic = 6; // bytes
const chunkSize = 1 << 16; // bytes that a decoder hands out at once
const mostFrames = 4096; // pzstd writes one per few mebibytes

/** A decoder of node:zlib; `bytesWritten` is how many bytes it has really taken. */
type Decoder = Transform & { readonly bytesWritten: number };

/** What the first bytes say; a file's name is only a promise. */
export const compressionOf = (start: Uint8Array): Compression =>
  magics.find(([, magic]) => magic.every((byte, index) => start[index] === byte))?.[0] ?? "none";

/** Opens gzip and zstd, and xz and bzip2 through `other`; plain bytes pass. */
export async function decompressed(
  source: ReadableStream<Uint8Array>,
  other: OtherDecompressor,
): Promise<ReadableStream<Uint8Array>> {
  const { start, stream } = await peek(source, longestMagic);
  const kind = compressionOf(start);
  switch (kind) {
    case "none":
      return stream;
    // Not DecompressionStream: it opens a whole chunk before it hands out the first byte (256 MiB of zeros lie in memory
    // when their 255 KiB come as one chunk), and it refuses files of several gzip members.
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
 * Pumps a stream through decoders, nearly always one: a decoder of zstd ends with its frame, when more of its last chunk is
 * left. An error of the source stays that error; one of the decoder is the data's fault.
 */
async function* opened(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  newDecoder: () => Decoder,
  kind: Compression,
): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array | undefined = new Uint8Array(0);
  try {
    for (let frames = 0; rest; frames++) {
      if (frames > mostFrames) throw damaged(kind);
      rest = yield* throughDecoder(reader, rest, newDecoder(), kind);
    }
  } finally {
    await reader.cancel().catch(() => {}); // it failed before: then we have thrown that
  }
}

/** Gives what comes out, and returns the bytes that belong to the next frame; undefined when there are none. */
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
    for await (const chunk of decoder) yield new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  } catch (error) {
    throw "source" in failed ? failed.source : damaged(kind, error);
  } finally {
    decoder.destroy();
  }
  return pumping;
}

const damaged = (kind: Compression, cause?: unknown) =>
  new RepodataFault("damaged_compression", `the ${kind} data is damaged or cut off`, { cause });

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

/** The decoder calls back when all output of the chunk has been read, so nothing piles up; a destroyed one never does. */
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
