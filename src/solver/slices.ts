/**
 * Cuts large metadata into documents of a few mebibytes, each complete in itself, so that a repository of any size is
 * read in bounded memory. Nothing of the document's own head is kept: neither a DOCTYPE nor an encoding gets through.
 */
import { UnreadableMetadata } from "./repository.ts";

export interface Dialect {
  /** Put before and after each slice. */
  head: string;
  tail: string;
  /** What the document's own head looks like, up to the first record. */
  opening: RegExp;
  firstRecord: RegExp;
  /** Bytes that stand at the border of two records, and how many of them belong to the first. */
  border: string;
  borderBelongs: number;
  /** What follows the last border; anything else means that the document was cut off. */
  closing: RegExp;
  /** A document without records. */
  empty: RegExp;
}

const declaration = String.raw`^\uFEFF?\s*(<\?xml[^>]*\?>)?(\s|<!--(?!-->).*?-->)*`;

function xmlDialect(root: string, record: string, head: string): Dialect {
  return {
    head: `<?xml version="1.0" encoding="UTF-8"?>${head}`,
    tail: `</${root}>`,
    opening: new RegExp(`${declaration}<${root}(\\s[^>]*)?>\\s*$`, "s"),
    firstRecord: new RegExp(`<${record}[\\s>]`),
    border: `</${record}>`,
    borderBelongs: record.length + 3,
    closing: new RegExp(`^\\s*</${root}>\\s*$`),
    empty: new RegExp(`${declaration}<${root}(\\s[^>]*)?(/>|>\\s*</${root}>)\\s*$`, "s"),
  };
}

const common = "http://linux.duke.edu/metadata/common";
const rpm = "http://linux.duke.edu/metadata/rpm";
export const primaryXml = xmlDialect("metadata", "package", `<metadata xmlns="${common}" xmlns:rpm="${rpm}">`);
export const updateinfoXml = xmlDialect("updates", "update", "<updates>");

/** `packages` of the layout before rpm-md; it has no end mark, so only its checksum tells that it is whole. */
export const susetags: Dialect = {
  head: "=Ver: 2.0\n",
  tail: "",
  opening: /^(#.*\n|=Ver: 2\.0\n|\s)*$/,
  firstRecord: /^=Pkg:/m,
  border: "\n=Pkg:",
  borderBelongs: 1,
  closing: /^(=Pkg:[^]*)?$/,
  empty: /^(#.*\n|=Ver: 2\.0\n|\s)*$/,
};

export interface SliceSizes {
  sliceBytes?: number;
  /** A single record larger than this is no honest one. */
  maxRecordBytes?: number;
}

const maxOpeningBytes = 64 << 10;
const textEncoder = new TextEncoder();
const latin1 = new TextDecoder("latin1");

/** Push chunks of the document; each slice given is valid until the next is asked for. */
export class Slicer {
  readonly #dialect: Dialect;
  readonly #head: Uint8Array;
  readonly #tail: Uint8Array;
  readonly #border: Uint8Array;
  readonly #sliceBytes: number;
  readonly #maxRecordBytes: number;
  #buffer: Uint8Array;
  /** Where the buffer is filled to, and where its last whole record ends. */
  #length: number;
  #cut: number;
  #isInRecords = false;

  constructor(dialect: Dialect, { sliceBytes = 4 << 20, maxRecordBytes = 8 << 20 }: SliceSizes = {}) {
    this.#dialect = dialect;
    this.#head = textEncoder.encode(dialect.head);
    this.#tail = textEncoder.encode(dialect.tail);
    this.#border = textEncoder.encode(dialect.border);
    this.#sliceBytes = sliceBytes;
    this.#maxRecordBytes = maxRecordBytes;
    this.#buffer = new Uint8Array(this.#head.length + sliceBytes + (1 << 20));
    this.#buffer.set(this.#head);
    this.#length = this.#cut = this.#head.length;
  }

  *push(chunk: Uint8Array): Generator<Uint8Array> {
    // A chunk may be as large as it likes; the buffer may not.
    for (let position = 0; position < chunk.length; position += this.#sliceBytes) {
      this.#append(chunk.subarray(position, position + this.#sliceBytes));
      if (!this.#isInRecords && !this.#skipOpening()) continue;
      if (this.#cut > this.#head.length && this.#length - this.#head.length >= this.#sliceBytes) yield* this.#slice();
      if (this.#length - this.#cut > this.#maxRecordBytes) throw new UnreadableMetadata("a record is far too long");
    }
  }

  /** The rest; refuses a document that is cut off. */
  *finish(): Generator<Uint8Array> {
    const start = this.#isInRecords ? this.#cut : this.#head.length;
    const rest = this.#text(start, this.#length);
    const expected = this.#isInRecords ? this.#dialect.closing : this.#dialect.empty;
    if (!expected.test(rest)) throw new UnreadableMetadata("the document is cut off, or not what it should be");
    // Where a record has no end mark of its own, the last one is whole when the document is.
    if (this.#isInRecords && this.#dialect.tail === "") this.#cut = this.#length;
    if (this.#cut > this.#head.length) yield* this.#slice();
  }

  #append(piece: Uint8Array): void {
    const needed = this.#length + piece.length + this.#tail.length;
    if (needed > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(needed, this.#buffer.length + (4 << 20)));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#length);
    const scanFrom = Math.max(this.#head.length, this.#length - this.#border.length);
    this.#length += piece.length;
    if (this.#isInRecords) this.#findCut(scanFrom);
  }

  #skipOpening(): boolean {
    const start = this.#head.length;
    const text = this.#text(start, Math.min(this.#length, start + maxOpeningBytes));
    const first = text.search(this.#dialect.firstRecord);
    if (first < 0) {
      if (this.#length - start > maxOpeningBytes) throw new UnreadableMetadata("no record where the first should be");
      return false;
    }
    if (!this.#dialect.opening.test(text.slice(0, first)))
      throw new UnreadableMetadata("not the document it should be");
    this.#buffer.copyWithin(start, start + first, this.#length);
    this.#length -= first;
    this.#isInRecords = true;
    this.#findCut(start);
    return true;
  }

  #findCut(from: number): void {
    const found = lastIndexOf(this.#buffer.subarray(from, this.#length), this.#border);
    if (found >= 0) this.#cut = from + found + this.#dialect.borderBelongs;
  }

  *#slice(): Generator<Uint8Array> {
    const after = this.#buffer.slice(this.#cut, this.#length);
    this.#buffer.set(this.#tail, this.#cut);
    yield this.#buffer.subarray(0, this.#cut + this.#tail.length);
    this.#buffer.set(after, this.#head.length);
    this.#length = this.#head.length + after.length;
    this.#cut = this.#head.length;
  }

  #text(from: number, to: number): string {
    return latin1.decode(this.#buffer.subarray(from, to));
  }
}

function lastIndexOf(bytes: Uint8Array, wanted: Uint8Array): number {
  for (let at = bytes.length - wanted.length; at >= 0; at--) {
    let matched = 0;
    while (matched < wanted.length && bytes[at + matched] === wanted[matched]) matched++;
    if (matched === wanted.length) return at;
  }
  return -1;
}
