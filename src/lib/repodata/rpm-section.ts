import { RepodataFault } from "./fault.ts";

/**
 * One header structure of an RPM, in the terms of rpm's format description. An RPM has two: the signature and the main
 * header.
 *
 *     8e ad e8 01 | reserved 4 | entries 4 | store bytes 4 | entries × (tag, type, offset, count) | store
 */
const introBytes = 16;
const entryBytes = 16;
const magic = 0x8eade801;

/** Limit of both headers together. A kernel's source list has 4 MB; rpm itself allows 256 MiB. */
export const maxHeaderBytes = 16 * 2 ** 20;
const maxEntries = 4096; // rpm has about 500 tags
/** Strings and numbers of one header: 500,000 files with four values each. */
const maxValues = 2_000_000;

const widths = { char: 1, int8: 1, int16: 2, int32: 4, int64: 8 } as const;
const types = [
  "null",
  "char",
  "int8",
  "int16",
  "int32",
  "int64",
  "string",
  "bin",
  "stringArray",
  "i18nString",
] as const;
type ValueType = (typeof types)[number];
interface Entry {
  type: ValueType;
  offset: number;
  count: number;
}

export const malformed = (why: string) => new RepodataFault("malformed_package", `not a valid RPM: ${why}`);

/** The length of the header at `at`; undefined until its first 16 bytes are there. */
export function sectionLength(bytes: Uint8Array, at: number): number | undefined {
  if (bytes.byteLength < at + introBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, introBytes);
  if (view.getUint32(0) !== magic) throw malformed(`no header at byte ${at}`);
  const [entries, storeBytes] = [view.getUint32(8), view.getUint32(12)];
  if (entries > maxEntries) throw malformed(`a header of ${entries} entries`);
  const length = introBytes + entries * entryBytes + storeBytes;
  if (length > maxHeaderBytes) throw malformed(`a header of ${length} bytes`);
  return length;
}

/**
 * The values of a header, decoded on demand. In a hostile header, a thousand entries may point to the same megabytes.
 * In a valid header they never overlap, so the decoded values together may not be longer than the store.
 */
export class RpmSection {
  readonly #entries = new Map<number, Entry>();
  readonly #store: Uint8Array;
  readonly #view: DataView;
  #bytesLeft: number;
  #valuesLeft = maxValues;

  /** `bytes`: exactly one header, of `sectionLength` bytes. */
  constructor(bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const entries = view.getUint32(8);
    this.#store = bytes.subarray(introBytes + entries * entryBytes);
    this.#view = new DataView(this.#store.buffer, this.#store.byteOffset, this.#store.byteLength);
    this.#bytesLeft = this.#store.byteLength;
    for (let index = 0; index < entries; index++) this.#addEntry(view, introBytes + index * entryBytes);
  }

  has(tag: number): boolean {
    return this.#entries.has(tag);
  }

  /** The first string of a tag. In a translated text that is the original. */
  text(tag: number): string | undefined {
    return this.#strings(tag, 1)[0];
  }

  texts(tag: number): string[] {
    return this.#strings(tag, Infinity);
  }

  number(tag: number): number | undefined {
    return this.numbers(tag)[0];
  }

  numbers(tag: number): number[] {
    const entry = this.#entries.get(tag);
    if (!entry) return [];
    const { type, offset, count } = entry;
    if (type !== "int8" && type !== "int16" && type !== "int32" && type !== "int64") {
      throw malformed(`tag ${tag} is ${type}, not a number`);
    }
    this.#spend(count, count * widths[type]);
    return Array.from({ length: count }, (_, index) => this.#integer(type, offset + index * widths[type]));
  }

  #addEntry(view: DataView, at: number): void {
    const tag = view.getUint32(at);
    const type = types[view.getUint32(at + 4)];
    const [offset, count] = [view.getUint32(at + 8), view.getUint32(at + 12)];
    if (type === undefined) throw malformed(`tag ${tag} has an unknown type`);
    if (offset > this.#store.byteLength) throw malformed(`tag ${tag} is outside its header`);
    const width = type in widths ? widths[type as keyof typeof widths] : 1; // a string has at least its closing zero
    if (type !== "null" && count * width > this.#store.byteLength - offset) {
      throw malformed(`tag ${tag} has ${count} values, more than fit in its header`);
    }
    this.#entries.set(tag, { type, offset, count });
  }

  #integer(type: "int8" | "int16" | "int32" | "int64", at: number): number {
    switch (type) {
      case "int8":
        return this.#view.getUint8(at);
      case "int16":
        return this.#view.getUint16(at);
      case "int32":
        return this.#view.getUint32(at);
      case "int64":
        return Number(this.#view.getBigUint64(at));
      default:
        return type satisfies never;
    }
  }

  #strings(tag: number, atMost: number): string[] {
    const entry = this.#entries.get(tag);
    if (!entry) return [];
    if (entry.type !== "string" && entry.type !== "stringArray" && entry.type !== "i18nString") {
      throw malformed(`tag ${tag} is ${entry.type}, not a text`);
    }
    const strings: string[] = [];
    let at = entry.offset;
    for (let left = Math.min(entry.count, atMost); left > 0; left--) {
      const end = this.#store.indexOf(0, at);
      if (end < 0) throw malformed(`tag ${tag} has an unterminated text`);
      this.#spend(1, end + 1 - at);
      strings.push(decode(this.#store.subarray(at, end)));
      at = end + 1;
    }
    return strings;
  }

  #spend(values: number, bytes: number): void {
    this.#valuesLeft -= values;
    this.#bytesLeft -= bytes;
    if (this.#valuesLeft < 0) throw malformed(`a header of more than ${maxValues} values`);
    if (this.#bytesLeft < 0) throw malformed("values that overlap");
  }
}

/** Packages from before 2005 are in Latin-1, so a text that is not UTF-8 is read as Latin-1. */
function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return latin1.decode(bytes);
  }
}
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const latin1 = new TextDecoder("latin1");
