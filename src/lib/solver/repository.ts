/** A repository inside a solver. It reads metadata, and returns packages and .solv parts. */
import type { Address, Native, NativeExports } from "./native.ts";
import { type DescriptionFields, descriptionOf, type PackageDescription } from "./package.ts";

/** The library could not read the metadata. The repository may contain a part of it: discard it with `reset`. */
export class UnreadableMetadata extends Error {}

export type PartKind =
  /** Everything, to show packages. */
  | "full"
  /** Dependencies, files, sizes, checksums and locations: a third of the size. */
  | "solving";

/** The beginning of an rpm, up to the end of its header, and the facts that the header does not contain. */
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

  /** Loads a part that `write` returned. Do not change the bytes afterwards: texts are read from them on demand. */
  loadPart(bytes: Uint8Array): void {
    this.#read(bytes, (exports, file) => exports.kiln_read_solv(this.#pool, this.#id, file), { keep: true });
  }

  /** Reads a whole primary.xml or one of its slices (#repodata/slices). Call `finish` after the last. */
  readPrimary(document: Uint8Array): void {
    this.#read(document, (exports, file) => exports.kiln_read_primary(this.#pool, this.#id, file));
  }

  /** Reads a whole `Packages` of Debian, or one of its slices. Call `finish` after the last. */
  readDeb(document: Uint8Array): void {
    this.#read(document, (exports, file) => exports.kiln_read_deb(this.#pool, this.#id, file));
  }

  readUpdateinfo(document: Uint8Array): void {
    this.#read(document, (exports, file) => exports.kiln_read_updateinfo(this.#pool, this.#id, file));
  }

  /** Reads `packages` or a pattern file of the older layout, whole or a slice. Call `finish` after the last. */
  readSusetags(document: Uint8Array): void {
    const read: Read = (exports, file, [none = 0]) => exports.kiln_read_susetags(this.#pool, this.#id, file, none);
    this.#read(document, read, { texts: [""] });
  }

  /** Reads texts such as `packages.en`, for packages that are already read and finished. */
  readSusetagsTexts(document: Uint8Array, language: string): void {
    const read: Read = (exports, file, [tongue = 0]) => exports.kiln_read_susetags(this.#pool, this.#id, file, tongue);
    this.#read(document, read, { texts: [language] });
  }

  /** Reads the `content` file of the older layout. */
  readContent(document: Uint8Array): void {
    this.#read(document, (exports, file) => exports.kiln_read_content(this.#pool, this.#id, file));
  }

  readRpm({ header, location, sha256, sizeBytes }: RpmFile): void {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new UnreadableMetadata("not a sha256");
    const read: Read = (exports, file, [place = 0, digest = 0]) =>
      exports.kiln_read_rpm(this.#pool, this.#id, file, place, digest, sizeBytes);
    this.#read(header, read, { texts: [location, sha256] });
  }

  /** Joins the slices that were read. */
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

  /**
   * All packages, in pages, so that the texts of a large repository are never in memory at the same time. A page takes
   * a millisecond.
   */
  *pages(packagesPerPage = 100): Generator<PackageDescription[]> {
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
