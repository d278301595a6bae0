import { createHash } from "node:crypto";
import { hexDigest } from "./checksum.ts";
import type { DebPackage } from "./deb-package.ts";
import type { RepositoryFile } from "./rpm-md.ts";
import { streamOf } from "./streams.ts";

/** A package of a Debian repository that Kiln writes. */
export interface ListedDeb {
  deb: DebPackage;
  /** Relative to the repository. */
  location: string;
  sha256: string;
  fileBytes: number;
}

/**
 * Writes a flat repository. Writes the list under its checksum first, and `Release` last, because readers fetch the
 * list as soon as they have `Release`. Reads the packages one by one, so that only the compressed list is in memory.
 *
 * @param of.origin the field Origin, by which machines choose the updates that they install
 * @param of.writtenAt seconds since 1970
 */
export async function writeDebIndex(
  packages: AsyncIterable<ListedDeb>,
  { origin, writtenAt }: { origin: string; writtenAt: number },
): Promise<RepositoryFile[]> {
  const plain = new HashedText();
  const list = streamOf(plain.of(paragraphs(packages)), async () => {}).pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(list).arrayBuffer());
  const sha256 = hexDigest("sha256", bytes);
  const release = [
    `Origin: ${origin}`,
    `Date: ${new Date(writtenAt * 1000).toUTCString()}`,
    "Acquire-By-Hash: yes",
    "SHA256:",
    // apt looks for a list by its plain name, and then fetches a compressed one.
    ` ${plain.sha256()} ${plain.byteLength} Packages`,
    ` ${sha256} ${bytes.byteLength} Packages.gz`,
  ];
  return [
    { path: `by-hash/SHA256/${sha256}`, bytes },
    { path: "Release", bytes: new TextEncoder().encode(release.map((line) => `${line}\n`).join("")) },
  ];
}

/** Hashes a text that streams through it. */
class HashedText {
  byteLength = 0;
  readonly #hash = createHash("sha256");

  async *of(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.byteLength += chunk.byteLength;
      this.#hash.update(chunk);
      yield chunk;
    }
  }

  sha256(): string {
    return this.#hash.digest("hex");
  }
}

async function* paragraphs(packages: AsyncIterable<ListedDeb>): AsyncGenerator<Uint8Array> {
  for await (const one of packages) yield new TextEncoder().encode(paragraph(one));
}

/** Fields that only the repository may set. */
const ours = /^(?:Package|Filename|Size|MD5sum|SHA\d+|Description-md5):.*\n(?:[ \t].*\n)*/gim;

/** Each paragraph of a list begins with the package's name. */
const paragraph = ({ deb, location, sha256, fileBytes }: ListedDeb): string =>
  `Package: ${deb.name}\n${deb.control.replace(ours, "")}Filename: ${location}\nSize: ${fileBytes}\nSHA256: ${sha256}\n\n`;
