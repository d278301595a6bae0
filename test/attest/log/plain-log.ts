import { createHash } from "node:crypto";
import { entryBundle, hashesIn, newTiles, tilePath } from "#lib/attest/log/tiles";

/* The definitions of RFC 6962, section 2.1, verbatim. They are slow, and use no tree code of the service. */

const sha256 = (...parts: Uint8Array[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();

const splitOf = (n: number): number => {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
};

/** MTH(D[n]). */
export function mth(entries: readonly string[]): Buffer {
  const [only] = entries;
  if (only === undefined) return sha256();
  if (entries.length === 1) return sha256(Buffer.of(0), Buffer.from(only));
  const k = splitOf(entries.length);
  return sha256(Buffer.of(1), mth(entries.slice(0, k)), mth(entries.slice(k)));
}

/** A log that grew in steps of these sizes, with every tile that was written on the way. */
export class PlainLog {
  readonly files = new Map<string, Buffer>();
  readonly entries: string[] = [];

  grow(entries: readonly string[]): void {
    const before = this.entries.length;
    this.entries.push(...entries);
    for (const tile of newTiles(before, this.entries.length)) this.files.set(tilePath(tile), this.#contentOf(tile));
  }

  #contentOf(tile: ReturnType<typeof newTiles>[number]): Buffer {
    const { level, from, to } = hashesIn(tile, tile.level === "entries" ? 0 : tile.level);
    if (tile.level === "entries") return entryBundle(this.entries.slice(from, to));
    const width = 2 ** level;
    const roots = Array.from({ length: to - from }, (_, at) => {
      const start = (from + at) * width;
      return mth(this.entries.slice(start, start + width));
    });
    return Buffer.concat(roots);
  }

  get head() {
    return { size: this.entries.length, root: mth(this.entries) };
  }

  /** Fails for a tile that the log does not have. */
  readonly read = async (path: string): Promise<Uint8Array> => {
    const found = this.files.get(path);
    if (!found) throw new Error(`there is no ${path}`);
    return found;
  };
}
