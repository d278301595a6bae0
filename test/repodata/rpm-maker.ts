/** Makes the bytes of an RPM's headers, valid or not: for each tag a type, a count and its bytes. */
import { createHash } from "node:crypto";
import { concatenate } from "#lib/repodata/streams";

export type Value =
  | { type: 3 | 4 | 5; numbers: number[] }
  | { type: 6 | 8 | 9; texts: string[] }
  | { type: number; count: number; bytes: Uint8Array }
  | { type: number; count: number; offset: number };
export type Tags = Record<number, Value>;

export const text = (value: string): Value => ({ type: 6, texts: [value] });
export const texts = (...values: string[]): Value => ({ type: 8, texts: values });
export const int16 = (...numbers: number[]): Value => ({ type: 3, numbers });
export const int32 = (...numbers: number[]): Value => ({ type: 4, numbers });

/** The smallest binary package. */
export const least: Tags = {
  1000: text("tiny"),
  1001: text("1.0"),
  1002: text("1"),
  1004: text("A package"),
  1022: text("noarch"),
  1044: text("tiny-1.0-1.src.rpm"),
};

export function makeRpm(tags: Tags = least, { signature = {} as Tags, payload = "payload" } = {}): Uint8Array {
  const lead = new Uint8Array(96);
  lead.set([0xed, 0xab, 0xee, 0xdb, 3]);
  const signatureHeader = makeHeader(signature);
  const padding = new Uint8Array(-signatureHeader.byteLength & 7);
  return concatenate([lead, signatureHeader, padding, makeHeader(tags), new TextEncoder().encode(payload)]);
}

export function makeHeader(tags: Tags): Uint8Array {
  const entries = Object.entries(tags);
  const chunks: Uint8Array[] = [];
  const index = new DataView(new ArrayBuffer(16 * entries.length));
  let offset = 0;
  for (const [row, [tag, value]] of entries.entries()) {
    const bytes = bytesOf(value);
    const at = "offset" in value ? value.offset : offset;
    for (const [column, number] of [Number(tag), value.type, at, countOf(value)].entries()) {
      index.setUint32(row * 16 + column * 4, number);
    }
    chunks.push(bytes);
    offset += bytes.byteLength;
  }
  const intro = new DataView(new ArrayBuffer(16));
  intro.setUint32(0, 0x8eade801);
  intro.setUint32(8, entries.length);
  intro.setUint32(12, offset);
  return concatenate([new Uint8Array(intro.buffer), new Uint8Array(index.buffer), ...chunks]);
}

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function countOf(value: Value): number {
  if ("count" in value) return value.count;
  return "texts" in value ? value.texts.length : value.numbers.length;
}

function bytesOf(value: Value): Uint8Array {
  if ("bytes" in value) return value.bytes;
  if ("offset" in value) return new Uint8Array(0);
  if ("texts" in value) return new TextEncoder().encode(value.texts.map((one) => `${one}\0`).join(""));
  const width = 2 ** (value.type - 2);
  const view = new DataView(new ArrayBuffer(width * value.numbers.length));
  for (const [index, number] of value.numbers.entries()) {
    if (width === 2) view.setUint16(index * 2, number);
    else if (width === 4) view.setUint32(index * 4, number);
    else view.setBigUint64(index * 8, BigInt(number));
  }
  return new Uint8Array(view.buffer);
}
