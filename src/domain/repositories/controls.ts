import { evr, type FrozenPackage } from "#lib/contract/index";
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

/** The paragraphs of packages of an import, by `debKey`. Packages that the import does not have are omitted. */
export async function readControls(
  blobs: R2Bucket,
  parts: readonly string[],
  packages: readonly DebPackage[],
): Promise<Map<string, string>> {
  const [part] = parts;
  if (part === undefined || packages.length === 0) return new Map();
  const wanted = new Set(packages.map(keyOfDeb));
  const found = new Map<string, string>();
  const { objects } = await blobs.list({ prefix: controlPrefixOfPart(part) });
  let leftBytes = maxBytes;
  for (const { key } of objects) {
    if (found.size === wanted.size) break;
    const blob = await blobs.get(key);
    if (!blob) continue;
    const opened = await readAtMost(blob.body.pipeThrough(new DecompressionStream("gzip")), leftBytes, key);
    leftBytes -= opened.byteLength;
    for (const [id, text] of wantedControls(new TextDecoder().decode(opened), wanted)) found.set(id, text);
  }
  return found;
}

type DebPackage = Pick<FrozenPackage, "name" | "epoch" | "version" | "release" | "arch">;

export const keyOfDeb = (one: DebPackage): string => debKey({ name: one.name, version: evr(one), arch: one.arch });
