import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";

/** The bytes are not a usable picture. The message completes a sentence that begins with "The picture". */
export class PictureFault extends Error {
  override readonly name = "PictureFault";
}

/** The facts about a PNG that can be read without decoding it. */
export interface PngOutline {
  width: number;
  height: number;
  /** Bits per colour: 16 take twice as long as 8. */
  bits: number;
  /** The file with only the chunks that its pixels need. Comments and colour profiles can decompress to any size. */
  essence: Uint8Array;
}

const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const essential = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);
const lengthBytes = 4;
const checksumBytes = 4;
/** The bytes of a chunk's length, type and checksum. */
const frameBytes = 12;
const ihdrBytes = 13;
/** Encoders write chunks of several kilobytes. A file of empty chunks would fill the memory. */
const maxChunks = 10_000;

/**
 * Reads the chunks of a PNG (W3C PNG, section 5) without decoding any. Checks the checksums, because the decoder skips
 * some.
 */
export function outlinePng(bytes: Uint8Array): PngOutline {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!file.subarray(0, signature.length).equals(signature)) throw new PictureFault("is not a PNG");
  const chunks = chunksOf(file);
  const [first] = chunks;
  if (first?.type !== "IHDR" || first.whole.length !== frameBytes + ihdrBytes) {
    throw new PictureFault("is a PNG without a header");
  }
  const needed = chunks.filter(({ type }) => essential.has(type)).map(({ whole }) => whole);
  if (!needed.every(isIntact)) throw new PictureFault("is damaged: a checksum is wrong");
  return {
    width: first.whole.readUInt32BE(lengthBytes + 4),
    height: first.whole.readUInt32BE(lengthBytes + 8),
    bits: first.whole.readUInt8(lengthBytes + 12),
    essence: Buffer.concat([signature, ...needed]),
  };
}

interface Chunk {
  type: string;
  whole: Buffer;
}

/** All chunks up to the one that ends the picture. Bytes after it are ignored. */
function chunksOf(file: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = signature.length; chunks.at(-1)?.type !== "IEND";) {
    if (at + frameBytes > file.length) throw new PictureFault("ends too early: a part of the file is missing");
    const type = file.toString("latin1", at + lengthBytes, at + lengthBytes + 4);
    const end = at + frameBytes + file.readUInt32BE(at);
    if (end > file.length) throw new PictureFault("ends too early: a part of the file is missing");
    chunks.push({ type, whole: file.subarray(at, end) });
    at = end;
    if (chunks.length > maxChunks) throw new PictureFault("has too many chunks");
  }
  return chunks;
}

/** The checksum covers type and content. */
const isIntact = (chunk: Buffer): boolean =>
  crc32(chunk.subarray(lengthBytes, -checksumBytes)) === chunk.readUInt32BE(chunk.length - checksumBytes);
