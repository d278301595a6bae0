/** A repository inside a solver: metadata goes in, packages and .solv parts come out. */
import type { Address, Native, NativeExports } from "./native.ts";
import { type DescriptionFields, descriptionOf, type PackageDescription } from "./package.ts";

/** The library could not read what it was given. The repository may hold a part of it: throw it away by `reset`. */
export class UnreadableMetadata extends Error {}

export type PartKind =
  /** Everything, for showing packages. */
  | "full"
  /** Dependencies, files, sizes, checksums and locations: a third of the size. */
  | "solving";

/** The beginning of an rpm, up to the end of its header, and what the header cannot say. */
export interface RpmFile {
  header: Uint8Array;
  location: string;
  sha256: string;
  sizeBytes: number;
}

type Read = (exports: NativeExports, file: number, texts: Address[]) => number;

export class Repository {
  readonly #native: Native;
  readonly #pool: Address;
  readonly #id: number;

  constructor(native: Native, pool: Address, id: number) {
    this.#native = native;
    this.#pool = pool;
    this.#id = id;
  }

  /** A part that `write` made. Keep the bytes unchanged: texts are read from them when they are asked for. */
  loadPart(bytes: Uint8Array): void {
    this.#read(bytes, (exports, file) => exports.kiln_read_solv(this.#pool, this.#id, file), { keep: true });
  }

  /** A whole primary.xml, or a slice that is a document (#repodata/slices). `finish` after the last. */
  readPrimary(document: Uint8Array): void {
    this.#read(document, (exports, file) => exports.kiln_read_primary(this.#pool, this.#id, file));
  }

  readUpdateinfo(document: Uint8Array): void {
    this.#read(document, (exports, file) => exports.kiln_read_updateinfo(this.#pool, this.#id, file));
  }

  /** The `packages` or a pattern file of the older layout, whole or a slice. `finish` after the last. */
  readSusetags(document: Uint8Array): void {
    const read: Read = (exports, file, [none = 0]) => exports.kiln_read_susetags(this.#pool, this.#id, file, none);
    this.#read(document, read, { texts: [""] });
  }

  /** `packages.en` and its like: texts for packages that were read and finished before. */
  readSusetagsTexts(document: Uint8Array, language: string): void {
    const read: Read = (exports, file, [tongue = 0]) => exports.kiln_read_susetags(this.#pool, this.#id, file, tongue);
    this.#read(document, read, { texts: [language] });
  }

  /** The `content` file of the older layout. */
  readContent(document: Uint8Array): void {
    this.#read(document, (exports, file) => exports.kiln_read_content(this.#pool, this.#id, file));
  }

  readRpm({ header, location, sha256, sizeBytes }: RpmFile): void {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new UnreadableMetadata("not a sha256");
    const read: Read = (exports, file, [place = 0, digest = 0]) =>
      exports.kiln_read_rpm(this.#pool, this.#id, file, place, digest, sizeBytes);
    this.#read(header, read, { texts: [location, sha256] });
  }

  /** Makes what the slices brought one whole. */
  finish(): void {
    this.#native.call((exports) => exports.kiln_internalize(this.#pool, this.#id));
  }

  get packageCount(): number {
    return this.#native.call((exports) => exports.kiln_count(this.#pool, this.#id));
  }

  /** The repository as a .solv file. */
  write(kind: PartKind): Uint8Array<ArrayBuffer> {
    const file = this.#native.files.create();
    const forSolving = kind === "solving" ? 1 : 0;
    const failed = this.#native.call((exports) => exports.kiln_write(this.#pool, this.#id, file, forSolving));
    const bytes = this.#native.files.take(file);
    if (failed) throw new UnreadableMetadata(this.#error());
    return bytes;
  }

  /** All packages, in pages so that the texts of a large repository are never in memory together. */
  *pages(packagesPerPage = 1000): Generator<PackageDescription[]> {
    for (let first = 0; ; first += packagesPerPage) {
      const rows = this.#native.takeJson(
        this.#native.call((exports) => exports.kiln_list(this.#pool, this.#id, first, packagesPerPage)),
      ) as DescriptionFields[];
      if (rows.length === 0) return;
      yield rows.map(descriptionOf);
    }
  }

  #read(bytes: Uint8Array, read: Read, { texts = [] as string[], keep = false } = {}): void {
    const file = this.#native.files.offer(bytes);
    const failed = this.#native.withTexts(texts, (exports, addresses) => read(exports, file, addresses));
    if (!keep || failed) this.#native.files.remove(file);
    if (failed) throw new UnreadableMetadata(this.#error());
  }

  #error(): string {
    return this.#native.textAt(this.#native.call((exports) => exports.kiln_error(this.#pool)));
  }
}
