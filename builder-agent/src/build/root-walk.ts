import { isUtf8 } from "node:buffer";
import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { readdir } from "node:fs/promises";
import { readOwners, type RootOwners } from "./root-owners.ts";

/** One name in a root, and what it is: a regular file, link, directory, character or block device, FIFO or socket. */
export interface Found {
  /** As the image sees it. */
  path: string;
  /** The path of its content on this host. */
  place: string;
  type: "f" | "l" | "d" | "c" | "b" | "p" | "s";
  mode: number;
  uid: number;
  gid: number;
  size: number;
  /** Of a link. */
  target: string;
}

/** The tree that an image was made from, in the order of the contract's `orderOf`. */
export interface RootTree {
  entries(): AsyncIterable<Found>;
  owners(): Promise<RootOwners>;
}

/** A directory tree of this host. */
export const treeAt = (root: string): RootTree => ({
  entries: () => walkRoot(root),
  owners: () => readOwners(root),
});

/** What KIWI keeps in the root for itself and puts into no image (its Defaults.get_exclude_list_for_root_data_sync). */
const notInImage = new Set(["/image", "/.profile", "/.kconfig", "/.buildenv", "/var/cache/kiwi"]);
/** Filled when the image runs: directories that KIWI copies without what is in them. */
const emptyInImage = new Set(["/proc", "/sys", "/dev", "/run", "/tmp"]);

/**
 * All that is in a root, each directory before what is below it, in the order of the contract's `orderOf`. Follows no link and
 * enters nothing that is mounted there. Names that are not UTF-8 are left out: no request could ask for them.
 */
async function* walkRoot(root: string): AsyncGenerator<Found> {
  const { dev: device } = lstatSync(root);
  const waiting = ["/"];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const place = root + path;
    const stat = lstatSync(place);
    const target = stat.isSymbolicLink() ? readlinkSync(place) : "";
    const { mode, uid, gid, size } = stat;
    yield { path, place, type: typeOf(stat), mode: mode & 0o7777, uid, gid, size, target };
    if (!stat.isDirectory() || stat.dev !== device || emptyInImage.has(path)) continue;
    for (const name of (await namesIn(place)).toReversed()) {
      const below = path === "/" ? `/${name}` : `${path}/${name}`;
      if (!notInImage.has(below)) waiting.push(below);
    }
  }
}

async function namesIn(dir: string): Promise<string[]> {
  const names = await readdir(dir, "buffer");
  // By code units, as the reader of the index compares.
  return names
    .filter((name) => isUtf8(name))
    .map(String)
    .toSorted();
}

function typeOf(stat: Stats): Found["type"] {
  if (stat.isFile()) return "f";
  if (stat.isSymbolicLink()) return "l";
  if (stat.isDirectory()) return "d";
  if (stat.isCharacterDevice()) return "c";
  if (stat.isBlockDevice()) return "b";
  return stat.isFIFO() ? "p" : "s";
}
