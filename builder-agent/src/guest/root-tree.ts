import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const emptyDirs = ["proc", "sys", "dev", "run", "tmp", "build", "job", "root", "home", "srv", "mnt", "media"];
const stateDirs = ["var/tmp", "var/cache", "var/log", "var/lib/dpkg"];

/** Makes the directories of a builder root that no package contains. */
export async function writeMountPoints(tree: string): Promise<void> {
  for (const dir of [...emptyDirs, ...stateDirs, "etc"]) await mkdir(join(tree, dir), { recursive: true });
  for (const dir of ["tmp", "var/tmp"]) await chmod(join(tree, dir), 0o1777);
}

/**
 * Writes the files that Debian's installer makes.
 * @param from the root with Debian's lists of accounts: this host, or the tree itself
 */
export async function writeSettings(tree: string, from: string): Promise<void> {
  await linkIfAbsent("/run", join(tree, "var/run"));
  await linkIfAbsent("/run/lock", join(tree, "var/lock"));
  await linkIfAbsent("/proc/self/mounts", join(tree, "etc/mtab"));
  for (const file of ["passwd", "group"]) {
    const accounts = await readFile(join(from, `usr/share/base-passwd/${file}.master`), "utf8");
    await writeFile(join(tree, "etc", file), accounts);
  }
  await writeFile(join(tree, "etc/hostname"), "builder\n");
  await writeFile(join(tree, "etc/hosts"), "127.0.0.1 localhost builder\n");
  await writeFile(join(tree, "etc/fstab"), "");
}

/** Only some releases have these links in a package. */
export async function linkIfAbsent(target: string, path: string): Promise<void> {
  await symlink(target, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}
