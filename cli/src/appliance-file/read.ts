import { type Document, LineCounter, isMap, isNode, isScalar, isSeq, parseDocument } from "yaml";
import type { RequestOf } from "../client/client.ts";
import { Complaint } from "../complaint.ts";
import { type Path, applianceSchema, faultsIn, isMapping } from "./check.ts";
import { digestOf } from "./write.ts";

/** A definition as the service accepts it. */
type Wanted = RequestOf<"applyDefinition">["body"]["definition"];

/** The content of a file, for the service: the definition, and contents by their SHA-256. */
export interface ApplianceFile {
  definition: Wanted & { name: string };
  contents: ReadonlyMap<string, Uint8Array>;
  /** The place of a value, for messages: `kiosk.yaml:12: packages[2].name`. */
  at: (path: Path) => string;
}

/** The sources of a file's references. */
export interface Surroundings {
  /** The name of the file, for messages. */
  name: string;
  /** Reads a file by its path relative to the YAML. Undefined if it cannot be read. */
  read: (path: string) => Uint8Array | undefined;
  env: Readonly<Record<string, string | undefined>>;
}

/** Reads `appliance.yaml`. Reports an error against the published schema with its line. */
export function readApplianceFile(text: string, { name, read, env }: Surroundings): ApplianceFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  const [broken] = document.errors;
  if (broken) throw wrongFile(`${name}:${broken.linePos?.[0].line ?? 1}: ${broken.message.split("\n")[0] ?? ""}`);
  const at = (path: Path) => `${name}:${lineOf(document, path, lineCounter)}: ${shownPath(path)}`;
  const value = toValue(document, name);
  const [fault, ...more] = faultsIn(applianceSchema, value);
  if (fault) throw wrongFile(`${at(fault.path)} ${fault.why.replace(/[.?]?$/, (end) => end || ".")}`, more.length);
  const resolver = new References({ at, read, env });
  const definition = resolver.resolve(value, []) as ApplianceFile["definition"];
  return { definition, contents: resolver.contents, at };
}

function toValue(document: ReturnType<typeof parseDocument>, name: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // Too many aliases, or an alias without its anchor.
    throw wrongFile(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function wrongFile(message: string, more = 0): Complaint {
  const rest = more === 0 ? "" : ` ${more} more ${more === 1 ? "place is" : "places are"} wrong.`;
  return new Complaint("misused", message, `\`kiln export\` writes such a file, and editors check it.${rest}`);
}

/** `packages[2].name` */
const shownPath = (path: Path): string =>
  path.length === 0
    ? "The file"
    : path.map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)).join("");

/** Replaces each reference by what it refers to, in a value that fits the schema. */
class References {
  readonly contents = new Map<string, Uint8Array>();
  readonly #at: (path: Path) => string;
  readonly #read: Surroundings["read"];
  readonly #env: Surroundings["env"];

  constructor({ at, read, env }: Pick<Surroundings, "read" | "env"> & { at: (path: Path) => string }) {
    this.#at = at;
    this.#read = read;
    this.#env = env;
  }

  resolve(value: unknown, path: Path): unknown {
    if (Array.isArray(value)) return value.map((one, index) => this.#item(one, [...path, index]));
    if (!isMapping(value)) return value;
    const { env, file } = value;
    if (typeof env === "string") return this.#secret(env, path);
    if (typeof file === "string") return this.#text(file, path);
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.resolve(one, [...path, name])]));
  }

  #item(value: unknown, path: Path): unknown {
    const [list] = path;
    if (path.length === 2 && list === "files" && isMapping(value)) return this.#withDigest(value, path);
    const isName = path.length === 2 && typeof value === "string";
    return isName ? { name: value } : this.resolve(value, path);
  }

  /** A file of the image is sent with its digest in place of its content. */
  #withDigest({ content, ...rest }: Record<string, unknown>, path: Path): unknown {
    const at = [...path, "content"];
    const bytes = isMapping(content)
      ? this.#bytes(String(content["file"]), at)
      : new TextEncoder().encode(String(content));
    const sha256 = digestOf(bytes);
    this.contents.set(sha256, bytes);
    return { ...rest, size: bytes.byteLength, sha256 };
  }

  #secret(name: string, path: Path): string {
    const value = this.#env[name];
    if (value !== undefined && value !== "") return value;
    const message = `${this.#at(path)} refers to the variable ${name}, which is not set.`;
    throw new Complaint("misused", message, `Set it: export ${name}=…`);
  }

  #bytes(file: string, path: Path): Uint8Array {
    const found = file.startsWith("/") ? undefined : this.#read(file);
    if (found) return found;
    const next = "Paths are relative to the folder of the YAML, and must not leave it.";
    throw new Complaint("misused", `${this.#at(path)} names ${file}, which cannot be read.`, next);
  }

  #text(file: string, path: Path): string {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(this.#bytes(file, path));
    } catch (error) {
      if (error instanceof Complaint) throw error;
      throw new Complaint("misused", `${this.#at(path)} names ${file}, which is not text.`, "It must be UTF-8.");
    }
  }
}

/** The line of a value, or of the innermost existing value around it. The line of a member is that of its key. */
function lineOf({ contents }: Pick<Document, "contents">, path: Path, lines: LineCounter): number {
  let node: unknown = contents;
  let offset = offsetOf(node) ?? 0;
  for (const part of path) {
    const next = memberOf(node, part);
    offset = offsetOf(next?.mark) ?? offset;
    node = next?.node;
  }
  return lines.linePos(offset).line;
}

function memberOf(node: unknown, part: string | number): { mark: unknown; node: unknown } | undefined {
  if (isSeq(node) && typeof part === "number") return { mark: node.items[part], node: node.items[part] };
  const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && String(key.value) === part) : undefined;
  return pair && { mark: pair.key, node: pair.value };
}

const offsetOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);
