import { Buffer } from "node:buffer";
import { nodeHash, type NodeAt } from "./tree.ts";

/*
 * The files of a log: c2sp.org/tlog-tiles. A tile has the hashes of up to 256 neighbours, in the tree's every 8th
 * level.
 */

/** A full or partial tile: `width` hashes from the `number`th group of 256 on, or as many entries. */
export interface Tile {
  level: number | "entries";
  number: number;
  width: number;
}

const fullWidth = 256;
const hashBytes = 32;

/** The path of a tile, below the log's address. */
export function tilePath({ level, number, width }: Tile): string {
  const digits = String(number).padStart(Math.ceil(String(number).length / 3) * 3, "0");
  const groups = digits.match(/.../g) ?? [];
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join("/");
  return `tile/${level}/${path}${width === fullWidth ? "" : `.p/${width}`}`;
}

/** Whether a text can be the path of a tile. */
export const isTilePath = (path: string): boolean =>
  /^tile\/(entries|[1-5]?\d|6[0-3])\/(x\d{3}\/){0,4}\d{3}(\.p\/([1-9]\d?|1\d\d|2[0-4]\d|25[0-5]))?$/.test(path);

/** How many hashes a level of tiles has. */
const hashesAt = (level: number, size: number): number => Math.floor(size / fullWidth ** level);

/** The tiles that a log of `size` entries has and that it did not have with `oldSize` entries. */
export function newTiles(oldSize: number, size: number): Tile[] {
  const tiles = grown("entries", oldSize, size);
  for (let level = 0; hashesAt(level, size) > 0; level += 1)
    tiles.push(...grown(level, hashesAt(level, oldSize), hashesAt(level, size)));
  return tiles;
}

function grown(level: Tile["level"], before: number, count: number): Tile[] {
  if (count === before) return [];
  const first = Math.floor(before / fullWidth);
  const numbers = Array.from({ length: Math.ceil(count / fullWidth) - first }, (_, at) => first + at);
  return numbers.map((number) => ({ level, number, width: widthOf(number, count) }));
}

const widthOf = (number: number, count: number): number => Math.min(fullWidth, count - number * fullWidth);

/** The level in the tree, and the positions, of the hashes in a tile. */
export const hashesIn = ({ number, width }: Tile, level: number): { level: number; from: number; to: number } => ({
  level: level * 8,
  from: number * fullWidth,
  to: number * fullWidth + width,
});

/** Entries as tiles have them: each after its length. */
export const entryBundle = (entries: readonly string[]): Buffer =>
  Buffer.concat(
    entries.flatMap((entry) => {
      const bytes = Buffer.from(entry);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(bytes.length);
      return [length, bytes];
    }),
  );

/** Reads the nodes of a tree from its tiles, and fetches each tile once. `read` takes a tile's path. */
export function nodesInTiles(size: number, read: (path: string) => Promise<Uint8Array>): NodeAt {
  const fetched = new Map<string, Promise<Uint8Array>>();
  const bytesOf = (tile: Tile) => {
    const path = tilePath(tile);
    const bytes = fetched.get(path) ?? read(path);
    fetched.set(path, bytes);
    return bytes;
  };
  return async (level, position) => {
    const tileLevel = Math.floor(level / 8);
    const count = 2 ** (level % 8);
    const number = Math.floor((position * count) / fullWidth);
    const tile = { level: tileLevel, number, width: widthOf(number, hashesAt(tileLevel, size)) };
    const bytes = Buffer.from(await bytesOf(tile));
    if (bytes.length !== tile.width * hashBytes) throw new Error(`${tilePath(tile)} has the wrong length`);
    const from = position * count - number * fullWidth;
    return subtreeHash(bytes.subarray(from * hashBytes, (from + count) * hashBytes));
  };
}

/** The hash over 2^n neighbours. */
function subtreeHash(hashes: Buffer): Buffer {
  if (hashes.length <= hashBytes) return hashes;
  const middle = hashes.length / 2;
  return nodeHash(subtreeHash(hashes.subarray(0, middle)), subtreeHash(hashes.subarray(middle)));
}
