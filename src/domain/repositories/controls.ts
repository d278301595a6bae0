import { evr, type FrozenPackage } from "#lib/contract/index";
import { LruCache } from "#domain/lru-cache";
import { rest } from "#lib/loop/pace";
import { controlsIn, debKey, wantedControls } from "#lib/repodata/deb-control";
import { readAtMost, streamOf } from "#lib/repodata/streams";
import { controlKey, controlPrefixOfPart } from "#storage/blobs";

/** The maximum size of the texts in one file, uncompressed. Builds read the files one after another. */
const maxFileBytes = 6 * 2 ** 20;
/** The maximum size of the texts of one import, uncompressed. */
const maxBytes = 128 * 2 ** 20;

/**
 * Stores the paragraphs of `Packages` next to an import's .solv files. A build needs them unchanged, and the solver
 * reads only a part of them. Each file is one compressed text for several thousand packages.
 */
export class ControlWriter {
  readonly #put: (n: number, bytes: ArrayBuffer) => Promise<unknown>;
  #waiting: string[] = [];
  #length = 0;
  #written = 0;

  constructor(blobs: R2Bucket, { repositoryId, importId }: { repositoryId: number; importId: string }) {
    this.#put = (n, bytes) => blobs.put(controlKey(repositoryId, importId, n), bytes);
  }

  add(slice: Uint8Array): void {
    const controls = controlsIn(slice);
    this.#waiting.push(controls);
    this.#length += controls.length;
  }

  get isFull(): boolean {
    return this.#length >= maxFileBytes;
  }

  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const opened = streamOf(encoded(this.#waiting), async () => {});
    this.#waiting = [];
    this.#length = 0;
    const compressed = await new Response(opened.pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
    await this.#put(this.#written++, compressed);
  }
}

/** Pauses between texts, because compressing all of them takes a tenth of a second. */
async function* encoded(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const text of texts) {
    yield encoder.encode(text);
    await rest();
  }
}

/**
 * The paragraphs that builds have read in this isolate, by import and `debKey`. An import never changes. The formats of
 * a version need the same ones, and reading them takes a tenth of a second.
 */
const known = new LruCache<{ weight: number; text: string }>(4 * 2 ** 20);

/** The paragraphs of packages of an import, by `debKey`. Packages that the import does not have are omitted. */
export async function readControls(
  blobs: R2Bucket,
  parts: readonly string[],
  packages: readonly DebPackage[],
): Promise<Map<string, string>> {
  const [part] = parts;
  if (part === undefined || packages.length === 0) return new Map();
  const prefix = controlPrefixOfPart(part);
  const found = new Map<string, string>();
  const missing = new Set<string>();
  for (const key of packages.map(keyOfDeb)) {
    const text = known.get(prefix + key)?.text;
    if (text === undefined) missing.add(key);
    else found.set(key, text);
  }
  for await (const [key, text] of storedControls(blobs, prefix, missing)) {
    found.set(key, text);
    known.set(prefix + key, { weight: text.length, text: copyOf(text) });
  }
  return found;
}

/** A slice of a string keeps the whole string in memory. */
const copyOf = (text: string): string => new TextDecoder().decode(new TextEncoder().encode(text));

/** Reads the files of an import until all wanted paragraphs were found. */
async function* storedControls(blobs: R2Bucket, prefix: string, wanted: ReadonlySet<string>) {
  if (wanted.size === 0) return;
  const { objects } = await blobs.list({ prefix });
  let leftBytes = maxBytes;
  const left = new Set(wanted);
  for (const { key } of objects) {
    if (left.size === 0) return;
    const blob = await blobs.get(key);
    if (!blob) continue;
    const opened = await readAtMost(blob.body.pipeThrough(new DecompressionStream("gzip")), leftBytes, key);
    leftBytes -= opened.byteLength;
    for (const [id, text] of wantedControls(new TextDecoder().decode(opened), left)) {
      left.delete(id);
      yield [id, text] as const;
    }
    await rest();
  }
}

type DebPackage = Pick<FrozenPackage, "name" | "epoch" | "version" | "release" | "arch">;

export const keyOfDeb = (one: DebPackage): string => debKey({ name: one.name, version: evr(one), arch: one.arch });
