import { Buffer } from "node:buffer";
import { crc32, deflateSync } from "node:zlib";

const colourTypes = { grey: 0, rgb: 2, palette: 3, greyAlpha: 4, rgba: 6 } as const;

export interface PngOptions {
  colourType?: keyof typeof colourTypes;
  bits?: 1 | 2 | 4 | 8 | 16;
  isInterlaced?: boolean;
  /** Bytes of one row; all rows are the same. Default: zeros. */
  row?: readonly number[];
  /** Chunks between the header and the pixels. */
  before?: Uint8Array[];
  /** The size that the header claims in place of the real one. */
  said?: { width: number; height: number };
}

/** Makes a PNG file without the code under test. */
export function pngOf(width: number, height: number, options: PngOptions = {}): Uint8Array<ArrayBuffer> {
  const { colourType = "rgba", bits = 8, isInterlaced = false, before = [], said = { width, height } } = options;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(said.width, 0);
  header.writeUInt32BE(said.height, 4);
  header.set([bits, colourTypes[colourType], 0, 0, isInterlaced ? 1 : 0], 8);
  const rowBytes = Math.ceil((width * bits * samplesOf[colourType]) / 8);
  const row = Buffer.from([0, ...(options.row ?? Array.from({ length: rowBytes }, () => 0))]);
  const rows = Buffer.concat(Array.from({ length: height }, () => row));
  return Uint8Array.from(
    Buffer.concat([
      signature,
      pngChunk("IHDR", header),
      ...before,
      pngChunk("IDAT", deflateSync(rows)),
      pngChunk("IEND", Buffer.alloc(0)),
    ]),
  );
}

/** Length, type, content, checksum. */
export function pngChunk(type: string, content: Uint8Array): Buffer {
  const chunk = Buffer.alloc(12 + content.byteLength);
  chunk.writeUInt32BE(content.byteLength, 0);
  chunk.write(type, 4, "latin1");
  chunk.set(content, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), 8 + content.byteLength);
  return chunk;
}

/** A row of equal pixels. */
export const rowOf = (width: number, pixel: readonly number[]): number[] =>
  Array.from({ length: width }, () => pixel).flat();

const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const samplesOf = { grey: 1, rgb: 3, palette: 1, greyAlpha: 2, rgba: 4 } as const;
