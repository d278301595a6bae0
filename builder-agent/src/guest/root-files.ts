import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { dpkgDir, type HostPackage } from "./host-packages.ts";

/** Files that a build never needs, and private files of the host. */
const leftOut =
  /^\/(?:boot|home|root|srv|var|media|mnt|opt|run|tmp|proc|sys|dev)(?:\/|$)|^\/usr\/share\/(?:doc|man|info|lintian|bug|locale\/(?!locale\.alias)|i18n\/(?!charmaps))\/./;
const generated = new Set(
  ["passwd", "shadow", "group", "gshadow", "machine-id", "hostname", "hosts", "fstab", "resolv.conf"].map(
    (name) => `/etc/${name}`,
  ),
);

/**
 * Absolute paths of the host's files for the builder root: the unchanged files of these packages, and what their
 * installation made (links of update-alternatives, Python's byte code, the linker's cache). A changed configuration
 * file is omitted, because it could contain a password.
 */
export function rootFiles(packages: readonly HostPackage[]): string[] {
  const real = realPaths();
  const files = new Set<string>();
  for (const one of packages) {
    for (const path of filesOf(one)) {
      if (leftOut.test(path) || generated.has(path)) continue;
      const realPath = real(path);
      if (realPath !== undefined && belongsIn(realPath, one.conffiles.get(path))) files.add(realPath);
    }
  }
  for (const path of byteCodeOf(files)) files.add(path);
  for (const path of alternativesOf(files, real)) files.add(path);
  for (const path of ["/etc/ld.so.cache", "/etc/ld.so.conf"]) if (existsSync(path)) files.add(path);
  return [...files].toSorted();
}

function filesOf({ name, architecture }: HostPackage): string[] {
  const lists = [`${name}.list`, `${name}:${architecture}.list`].map((file) => join(dpkgDir, "info", file));
  const list = lists.find((file) => existsSync(file));
  return list === undefined ? [] : readFileSync(list, "utf8").split("\n").filter(Boolean);
}

/**
 * Whether a path belongs in the root: files, links and empty directories do. Others exist because of their contents.
 */
function belongsIn(realPath: string, md5: string | undefined): boolean {
  const stat = statOf(realPath);
  if (stat === undefined) return false;
  if (stat.isDirectory()) return readdirSync(realPath).length === 0;
  if (!stat.isFile()) return stat.isSymbolicLink();
  return md5 === undefined || createHash("md5").update(readFileSync(realPath)).digest("hex") === md5;
}

/** The real path on a host whose /bin is a link to /usr/bin. */
function realPaths(): (path: string) => string | undefined {
  const dirs = new Map<string, string | undefined>();
  return (path) => {
    const dir = dirname(path);
    if (!dirs.has(dir)) dirs.set(dir, existsSync(dir) ? realpathSync(dir) : undefined);
    const found = dirs.get(dir);
    return found === undefined ? undefined : join(found, basename(path));
  };
}

/**
 * Without byte code, every start of a Python program compiles it first, which takes seconds on an emulated processor.
 */
function byteCodeOf(files: ReadonlySet<string>): string[] {
  const dirs = new Set([...files].filter((path) => path.endsWith(".py")).map((path) => dirname(path)));
  return [...dirs].flatMap((dir) => {
    const cache = join(dir, "__pycache__");
    const names = statOf(cache)?.isDirectory() ? readdirSync(cache) : [];
    return names
      .filter((name) => name.endsWith(".pyc") && files.has(join(dir, `${name.split(".")[0]}.py`)))
      .map((name) => join(cache, name));
  });
}

/** Both links of each alternative whose target is in the root. Links of update-alternatives belong to no package. */
function alternativesOf(files: ReadonlySet<string>, real: (path: string) => string | undefined): string[] {
  const dir = join(dpkgDir, "alternatives");
  const names = existsSync(dir) ? readdirSync(dir) : [];
  return names.flatMap((name) => {
    // "auto", then links (each of a slave after its name), then an empty line.
    const head = readFileSync(join(dir, name), "utf8").split("\n\n")[0] ?? "";
    const links = head.split("\n").filter((line) => line.startsWith("/"));
    return links.flatMap((link) => {
      const realPath = real(link);
      if (realPath === undefined || !statOf(realPath)?.isSymbolicLink()) return [];
      const middle = readlinkSync(realPath);
      const isOurs =
        middle.startsWith("/etc/alternatives/") && existsSync(realPath) && files.has(realpathSync(realPath));
      return isOurs ? [realPath, middle] : [];
    });
  });
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
