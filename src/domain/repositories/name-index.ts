import { Buffer } from "node:buffer";
import type { IndexedPackage } from "#storage/packages";

/**
 * The facts about an import's packages that search shows, sorted by name, in little memory. A search reads all names
 * and needs no query. The index is one file next to the .solv parts: a line of JSON, followed by the columns.
 */

interface Header {
  count: number;
  arches: string[];
  checksums: { type: string; bytes: number }[];
  patterns: [row: number, pattern: string][];
  /** The size of each column, in the order of `columns`. */
  bytes: number[];
}

const maxIndexed = 150_000;
const maxId = 0xffff_ffff;

/** The number of ranks of hits: the whole name, its beginning, a part of it, or only the name of its pattern. */
const ranks = 4;

export class NameIndexWriter {
  readonly #names: string[] = [];
  readonly #versions: string[] = [];
  readonly #ids: number[] = [];
  readonly #arches = new Map<string, number>();
  readonly #archOf: number[] = [];
  readonly #checksums = new Map<string, number>();
  readonly #checksumTypes: number[] = [];
  readonly #digests: Uint8Array[] = [];
  readonly #patterns: Header["patterns"] = [];

  /** Adds packages. They must be in the order of their names, and packages of one name in the order of their ids. */
  add(packages: readonly IndexedPackage[]): void {
    for (const one of packages) {
      if (one.pattern !== "") this.#patterns.push([this.#ids.length, one.pattern]);
      this.#names.push(one.name);
      this.#versions.push(one.version);
      this.#ids.push(one.id);
      this.#archOf.push(numberOf(this.#arches, one.arch));
      this.#checksumTypes.push(numberOf(this.#checksums, `${one.checksumType} ${one.checksum.length / 2}`));
    }
    this.#digests.push(Buffer.from(packages.map(({ checksum }) => checksum).join(""), "hex"));
  }

  /**
   * The bytes of the index. Undefined if it is too large for memory, has too many architectures or checksum types, or
   * has ids that do not fit into 32 bits.
   */
  written(): Uint8Array<ArrayBuffer> | undefined {
    const kinds = Math.max(this.#arches.size, this.#checksums.size);
    const fits = this.#ids.length <= maxIndexed && kinds <= 255 && this.#ids.every((id) => id <= maxId);
    return fits ? this.#file() : undefined;
  }

  #file(): Uint8Array<ArrayBuffer> {
    const texts = [this.#names, this.#versions].map((lines) => Buffer.from(lines.join("\n")));
    const numbers = [this.#archOf, this.#checksumTypes].map((column) => Uint8Array.from(column));
    const ids = Buffer.from(Uint32Array.from(this.#ids).buffer);
    const columns = [...texts, ...numbers, ids, Buffer.concat(this.#digests)];
    const checksums = [...this.#checksums.keys()].map((key) => {
      const [type = "", bytes] = key.split(" ");
      return { type, bytes: Number(bytes) };
    });
    const header: Header = {
      count: this.#ids.length,
      arches: [...this.#arches.keys()],
      checksums,
      patterns: this.#patterns,
      bytes: columns.map(({ byteLength }) => byteLength),
    };
    return new Uint8Array(Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...columns]));
  }
}

function numberOf(known: Map<string, number>, text: string): number {
  const number = known.get(text) ?? known.size;
  known.set(text, number);
  return number;
}

/** A row of an index that a search has found. */
export interface IndexHit {
  index: NameIndex;
  row: number;
  /** The repository that shows the index. */
  repositoryId: number;
}

/** A search for a lower-case text in packages of these architectures. `limit` is the number of hits of each rank. */
export interface NameSearch {
  needle: string;
  arches: ReadonlySet<string>;
  limit: number;
}

export class NameIndex {
  readonly #header: Header;
  readonly #names: string;
  /** The names in lower case. The same string as `#names` if they all are in lower case. */
  readonly #lower: string;
  readonly #versions: string;
  readonly #arches: Uint8Array;
  readonly #checksumTypes: Uint8Array;
  readonly #ids: Uint32Array;
  readonly #digests: Uint8Array;
  readonly #patterns: ReadonlyMap<number, string>;
  /** Where each line begins, and one more position after the last line. */
  readonly #nameAt: Uint32Array;
  readonly #versionAt: Uint32Array;
  readonly #digestAt: Uint32Array;

  constructor(file: Uint8Array<ArrayBuffer>) {
    const end = file.indexOf(0x0a);
    const header = JSON.parse(new TextDecoder().decode(file.subarray(0, end))) as Header;
    let at = end + 1;
    const [names, versions, arches, types, ids, digests] = header.bytes.map((bytes) =>
      file.subarray(at, (at += bytes)),
    );
    const decoder = new TextDecoder();
    this.#header = header;
    this.#patterns = new Map(header.patterns);
    this.#names = decoder.decode(names);
    this.#lower = lowerCase(this.#names);
    this.#versions = decoder.decode(versions);
    // Copies, so that the memory of the file can be freed.
    this.#arches = new Uint8Array(arches ?? []);
    this.#checksumTypes = new Uint8Array(types ?? []);
    this.#ids = new Uint32Array(new Uint8Array(ids ?? []).buffer);
    this.#digests = new Uint8Array(digests ?? []);
    this.#nameAt = lineStarts(this.#names, header.count);
    this.#versionAt = lineStarts(this.#versions, header.count);
    this.#digestAt = digestStarts(this.#checksumTypes, header.checksums);
  }

  /** The number of bytes of memory that the index needs. */
  get bytes(): number {
    const texts = this.#names.length + (this.#lower === this.#names ? 0 : this.#lower.length) + this.#versions.length;
    const columns = [this.#arches, this.#checksumTypes, this.#ids, this.#digests, this.#nameAt, this.#versionAt];
    return [...columns, this.#digestAt].reduce((sum, { byteLength }) => sum + byteLength, texts);
  }

  /** The first rows of each rank, in the order of the names. */
  search({ needle, arches, limit }: NameSearch, repositoryId: number): IndexHit[][] {
    const found: IndexHit[][] = Array.from({ length: ranks }, () => []);
    const fits = this.#header.arches.map((arch) => arches.has(arch));
    const add = (row: number, rank: number) => {
      const hits = found[rank];
      if (hits && hits.length < limit && fits[this.#arches[row] ?? 0]) hits.push({ index: this, row, repositoryId });
    };
    const starts = this.#nameAt;
    let row = 0;
    for (let at = this.#lower.indexOf(needle); at !== -1 && row < this.#header.count;) {
      while ((starts[row + 1] ?? Infinity) <= at) row++;
      const [start = 0, next = 0] = [starts[row], starts[row + 1]];
      add(row, at > start ? 2 : next - 1 - start > needle.length ? 1 : 0);
      at = this.#lower.indexOf(needle, next);
    }
    for (const [patternRow, pattern] of this.#patterns) {
      if (lowerCase(pattern).includes(needle) && !lowerCase(this.name(patternRow)).includes(needle)) add(patternRow, 3);
    }
    return found;
  }

  name(row: number): string {
    return lineAt(this.#names, this.#nameAt, row);
  }

  id(row: number): number {
    return this.#ids[row] ?? 0;
  }

  package(row: number): IndexedPackage {
    const { type = "" } = this.#header.checksums[this.#checksumTypes[row] ?? 0] ?? {};
    const digest = this.#digests.subarray(this.#digestAt[row], this.#digestAt[row + 1]);
    return {
      id: this.id(row),
      name: this.name(row),
      version: lineAt(this.#versions, this.#versionAt, row),
      arch: this.#header.arches[this.#arches[row] ?? 0] ?? "",
      checksumType: type,
      // This is many times as fast as with a Buffer, and an answer has up to 1000 checksums.
      checksum: digest.toHex(),
      pattern: this.#patterns.get(row) ?? "",
    };
  }
}

/** Like SQLite's lower(), which changes only ASCII. */
const lowerCase = (text: string): string =>
  /[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text;

function lineStarts(text: string, count: number): Uint32Array {
  const starts = new Uint32Array(count + 1);
  for (let line = 1, at = 0; line <= count; line++) {
    const end = text.indexOf("\n", at);
    at = end === -1 ? text.length + 1 : end + 1;
    starts[line] = at;
  }
  return starts;
}

function digestStarts(types: Uint8Array, kinds: Header["checksums"]): Uint32Array {
  const starts = new Uint32Array(types.length + 1);
  let at = 0;
  for (const [row, type] of types.entries()) starts[row + 1] = at += kinds[type]?.bytes ?? 0;
  return starts;
}

const lineAt = (text: string, starts: Uint32Array, row: number): string =>
  text.slice(starts[row], (starts[row + 1] ?? 1) - 1);
