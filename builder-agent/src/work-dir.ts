import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { clearLeftovers, mountsBelow } from "./leftovers.ts";
import type { Log } from "./log.ts";
import { outputOf } from "./process.ts";

/** The directory of one build, deleted at the end of `await using`. */
export interface WorkDir {
  path: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openWorkDir(stateDir: string, name: string, log: Log): Promise<WorkDir> {
  const path = join(await makeWorkRoot(stateDir), name);
  await removeWorkDir(path, log);
  await mkdir(path, { mode: 0o700 });
  return { path, [Symbol.asyncDispose]: () => removeWorkDir(path, log) };
}

/** Deletes, at the start, what a killed agent left below `stateDir`. Returns the number of deleted directories. */
export async function clearWorkDirs(stateDir: string, log: Log): Promise<number> {
  const root = await makeWorkRoot(stateDir);
  await clearLeftovers(root, log);
  const names = await readdir(root);
  for (const name of names) await removeWorkDir(join(root, name), log);
  return names.length;
}

/**
 * ext4 without a journal does not reuse a deleted inode for five minutes, and checks each of them whenever it creates a
 * file: the 17,000 files of a Debian root then take 7 to 13 s of processor time instead of 1. With this flag,
 * directories with different names begin in different parts of the disk, so most builds create their files away from
 * those that the last build has just deleted.
 */
async function makeWorkRoot(stateDir: string): Promise<string> {
  const root = join(stateDir, "work");
  await mkdir(root, { recursive: true, mode: 0o700 });
  // This fails on other file systems, which do not have this flag.
  await outputOf("chattr", ["+T", root], AbortSignal.timeout(5000)).catch(() => {});
  return root;
}

/** Refuses while something is mounted below, because deleting would empty the host's /dev or a repository. */
async function removeWorkDir(path: string, log: Log): Promise<void> {
  await clearLeftovers(path, log);
  const mounts = await mountsBelow(path);
  if (mounts.length > 0)
    throw new Error(`${path} was not removed, because something is mounted in it: ${mounts.join(", ")}`);
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}
