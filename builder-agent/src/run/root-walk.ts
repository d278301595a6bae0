import { isUtf8 } from "node:buffer";
import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { readdir } from "node:fs/promises";
import { readOwners, type Owners } from "./root-owners.ts";

/** A path in a root. The types are regular file, link, directory, character device, block device, FIFO and socket. */
export interface Found {
  /** The path as the image sees it. */
  path: string;
  /** The path of its content on this host. */
  hostPath: string;
  type: "f" | "l" | "d" | "c" | "b" | "p" | "s";
  mode: number;
  uid: number;
  gid: number;
  size: number;
  /** The target of a link. */
  target: string;
}

/** The tree that an image was made from, in the order of the contract's `orderOf`. */
export interface RootTree {
  entries(): AsyncIterable<Found>;
  owners(): Promise<Owners>;
}

/** A directory tree of this host. */
export const treeAt = (root: string): RootTree => ({
  entries: () => walkRoot(root),
  owners: () => readOwners(root),
});

/** KIWI's own files in the root, which it copies into no image (its Defaults.get_exclude_list_for_root_data_sync). */
const notInImage = new Set(["/image", "/.profile", "/.kconfig", "/.buildenv", "/var/cache/kiwi"]);
/** Directories that KIWI copies empty. They are filled when the image runs. */
const emptyInImage = new Set(["/proc", "/sys", "/dev", "/run", "/tmp"]);

/**
 * All paths in a root, in the order of the contract's `orderOf`, each directory before its contents. Follows no link
 * and enters no mount. Omits names that are not UTF-8, because no request could name them.
 */
async function* walkRoot(root: string): AsyncGenerator<Found> {
  const { dev: device } = lstatSync(root);
  const waiting = ["/"];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const hostPath = root + path;
    const stat = lstatSync(hostPath);
    const target = stat.isSymbolicLink() ? readlinkSync(hostPath) : "";
    const { mode, uid, gid, size } = stat;
    yield { path, hostPath, type: typeOf(stat), mode: mode & 0o7777, uid, gid, size, target };
    if (!stat.isDirectory() || stat.dev !== device || emptyInImage.has(path)) continue;
    for (const name of (await namesIn(hostPath)).toReversed()) {
      const below = path === "/" ? `/${name}` : `${path}/${name}`;
      if (!notInImage.has(below)) waiting.push(below);
    }
  }
}

async function namesIn(dir: string): Promise<string[]> {
  const names = await readdir(dir, "buffer");
  const valid = names.filter((name) => isUtf8(name)).map(String);
  return valid.toSorted(); // by code units, as the reader of the index compares
}

function typeOf(stat: Stats): Found["type"] {
  if (stat.isFile()) return "f";
  if (stat.isSymbolicLink()) return "l";
  if (stat.isDirectory()) return "d";
  if (stat.isCharacterDevice()) return "c";
  if (stat.isBlockDevice()) return "b";
  return stat.isFIFO() ? "p" : "s";
}
