import { createHash } from "node:crypto";
import { Document, Scalar, visit } from "yaml";
import type { AnswerOf } from "../client/client.ts";

/** The definition of an appliance, as the service shows it. */
export type Definition = AnswerOf<"getDefinition">["definition"];

/** The part of a definition that a file has. Its configuration may contain references. */
type Described = Partial<Omit<Definition, "configuration">> &
  Pick<Definition, "packages" | "patterns" | "bans" | "files"> & { configuration: object };

/** The text of `appliance.yaml`, and the files next to it by their paths. */
export interface Written {
  text: string;
  files: ReadonlyMap<string, Uint8Array>;
}

interface Surroundings {
  /** The address of the schema, for editors. */
  schema: string;
  /** The folder for contents that are not text, relative to the YAML. */
  folder: string;
  contentOf: (sha256: string) => Uint8Array;
}

/** Writes a definition as a file for git. The same definition always gives the same bytes. */
export function writeApplianceFile(definition: Described, { schema, folder, contentOf }: Surroundings): Written {
  const written = new Map<string, Uint8Array>();
  const names = new FileNames(folder);
  const fileOf = ({ size: _size, sha256, upload: _upload, path, ...rest }: Definition["files"][number]) => {
    const bytes = contentOf(sha256);
    const text = textOf(bytes);
    if (text !== undefined) return { path, ...rest, content: text };
    const file = names.take(path);
    written.set(file, bytes);
    return { path, ...rest, content: { file } };
  };
  const { id: _id, ...fields } = definition;
  const { packages, patterns, bans, files } = fields;
  // The members stay in the order of the service.
  const document = new Document(
    {
      ...fields,
      packages: packages.map(shortened),
      patterns: patterns.map(shortened),
      bans: bans.map(shortened),
      files: files.map(fileOf),
    },
    { aliasDuplicateObjects: false },
  );
  visit(document, { Scalar: quoteBlank });
  document.commentBefore = [`yaml-language-server: $schema=${schema}`, ...intro].map((line) => ` ${line}`).join("\n");
  // No line width: otherwise each change of a word could move line breaks.
  return { text: document.toString({ lineWidth: 0 }), files: written };
}

const intro = [
  "`kiln plan` shows what this file would change, and `kiln apply` applies it. What you omit stays as it is.",
  "Passwords are not in it. To set one, name a variable: password: { env: NAME }",
];

/** Quotes texts with blank lines, because the library drops the white space of such lines in a block. */
function quoteBlank(_key: unknown, node: Scalar): void {
  if (typeof node.value === "string" && /(^|\n)[ \t]+(\n|$)/.test(node.value)) node.type = Scalar.QUOTE_DOUBLE;
}

/** A package without a version and a repository is written as just its name. */
const shortened = (one: Definition["packages"][number]) =>
  one.version === undefined && one.repository === undefined ? one.name : one;

export const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Longer texts become files, so that git shows their changes separately. */
const longestInline = 4096;

/** Characters that are visible in YAML and survive writing and reading. */
const plain = /^[\t\n\x20-\x7E\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]*$/u;

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.byteLength > longestInline) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return plain.test(text) ? text : undefined;
  } catch {
    return undefined; // not UTF-8
  }
}

/** Gives each file a unique path below the folder, also on file systems that ignore case. */
class FileNames {
  readonly #folder: string;
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param path in the image */
  take(path: string): string {
    const parts = path.split("/").filter((part) => part !== "" && part !== "." && part !== "..");
    const wanted = parts.join("/") || "file";
    let name = wanted;
    for (let nth = 2; !this.#isFree(name); nth++) name = `${nth}/${wanted}`;
    this.#files.add(name.toLowerCase());
    for (const folder of foldersOf(name)) this.#folders.add(folder);
    return `${this.#folder}/${name}`;
  }

  #isFree(name: string): boolean {
    const key = name.toLowerCase();
    return !this.#files.has(key) && !this.#folders.has(key) && foldersOf(name).every((one) => !this.#files.has(one));
  }
}

/** `a` and `a/b` for `a/b/c`. */
function foldersOf(name: string): string[] {
  const parts = name.toLowerCase().split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
