import { createHash } from "node:crypto";
import { marked, writeXml } from "#lib/wire/xml";
import { type RepositoryPackage, filelistsElement, otherElement, primaryElement } from "./rpm-md-package.ts";
import { hexDigest } from "./checksum.ts";
import { concatenate } from "./streams.ts";

export type { RepositoryPackage } from "./rpm-md-package.ts";

/** A file of a repository that Kiln writes. */
export interface RepositoryFile {
  /** Relative to the repository, e.g. `repodata/4a0b…-primary.xml.gz`. */
  path: string;
  bytes: Uint8Array;
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
const namespaces = {
  primary: 'xmlns="http://linux.duke.edu/metadata/common" xmlns:rpm="http://linux.duke.edu/metadata/rpm"',
  filelists: 'xmlns="http://linux.duke.edu/metadata/filelists"',
  other: 'xmlns="http://linux.duke.edu/metadata/other"',
} as const;
const roots = { primary: "metadata", filelists: "filelists", other: "otherdata" } as const;
const kinds = ["primary", "filelists", "other"] as const;
type Kind = (typeof kinds)[number];

/**
 * Writes an rpm-md repository as createrepo_c does: three lists, and repomd.xml last, because readers fetch the lists
 * as soon as they have it. The same packages and `writtenAt` give the same bytes. Reads the packages one by one, so
 * that only the compressed lists are in memory.
 *
 * @param count number of packages, for the first line of each list
 * @param writtenAt seconds since 1970, for the revision and the timestamps
 */
export async function writeRpmMd(
  packages: Iterable<RepositoryPackage> | AsyncIterable<RepositoryPackage>,
  count: number,
  writtenAt: number,
): Promise<RepositoryFile[]> {
  const lists = kinds.map((kind) => new ListWriter(kind, count));
  let seen = 0;
  for await (const one of packages) {
    seen++;
    await Promise.all(lists.map((list) => list.add(one)));
  }
  if (seen !== count) throw new Error(`rpm-md: got ${seen} packages instead of ${count}`);
  const written = await Promise.all(lists.map((list) => list.finish()));
  return [...written.map(({ file }) => file), repomdFile(written, writtenAt)];
}

interface WrittenList {
  kind: Kind;
  file: RepositoryFile;
  sha256: string;
  openSha256: string;
  openBytes: number;
}

const elements = { primary: primaryElement, filelists: filelistsElement, other: otherElement } as const;

/** One list, compressed while it is written. */
class ListWriter {
  readonly #kind: Kind;
  readonly #gzip = new CompressionStream("gzip");
  readonly #writer = this.#gzip.writable.getWriter();
  readonly #compressed: Promise<Uint8Array>;
  readonly #openHash = createHash("sha256");
  #openBytes = 0;
  #pending: string;

  constructor(kind: Kind, count: number) {
    this.#kind = kind;
    this.#compressed = collect(this.#gzip.readable);
    this.#pending = `${declaration}<${roots[kind]} ${namespaces[kind]} packages="${count}">\n`;
  }

  async add(one: RepositoryPackage): Promise<void> {
    this.#pending += elements[this.#kind](one);
    if (this.#pending.length > 1 << 16) await this.#flush();
  }

  async finish(): Promise<WrittenList> {
    this.#pending += `</${roots[this.#kind]}>\n`;
    await this.#flush();
    await this.#writer.close();
    const bytes = await this.#compressed;
    const sha256 = hexDigest("sha256", bytes);
    const file = { path: `repodata/${sha256}-${this.#kind}.xml.gz`, bytes };
    return { kind: this.#kind, file, sha256, openSha256: this.#openHash.digest("hex"), openBytes: this.#openBytes };
  }

  async #flush(): Promise<void> {
    const bytes = new TextEncoder().encode(this.#pending);
    this.#pending = "";
    this.#openHash.update(bytes);
    this.#openBytes += bytes.byteLength;
    await this.#writer.write(bytes);
  }
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return concatenate(chunks);
}

function repomdFile(lists: readonly WrittenList[], writtenAt: number): RepositoryFile {
  const xml = writeXml(
    "repomd",
    marked(
      { xmlns: "http://linux.duke.edu/metadata/repo", "xmlns:rpm": "http://linux.duke.edu/metadata/rpm" },
      { revision: writtenAt, data: lists.map((list) => dataElement(list, writtenAt)) },
    ),
  );
  return { path: "repodata/repomd.xml", bytes: new TextEncoder().encode(declaration + xml) };
}

const dataElement = ({ kind, file, sha256, openSha256, openBytes }: WrittenList, writtenAt: number) =>
  marked(
    { type: kind },
    {
      checksum: marked({ type: "sha256" }, sha256),
      "open-checksum": marked({ type: "sha256" }, openSha256),
      location: marked({ href: file.path }, ""),
      timestamp: writtenAt,
      size: file.bytes.byteLength,
      "open-size": openBytes,
    },
  );
