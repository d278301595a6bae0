import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { clearLeftovers, mountsBelow } from "./leftovers.ts";
import type { Log } from "./log.ts";

/** Where one build works; gone at the end of `await using`, whatever happens. */
export interface WorkDir {
  path: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openWorkDir(stateDir: string, name: string, log: Log): Promise<WorkDir> {
  const path = join(workRoot(stateDir), name);
  await removeWorkDir(path, log);
  await mkdir(path, { recursive: true, mode: 0o700 });
  return { path, [Symbol.asyncDispose]: () => removeWorkDir(path, log) };
}

/** At start: what a killed predecessor left below `stateDir`. Answers how many directories it found. */
export async function clearWorkDirs(stateDir: string, log: Log): Promise<number> {
  const root = workRoot(stateDir);
  await mkdir(root, { recursive: true, mode: 0o700 });
  await clearLeftovers(root, log);
  const names = await readdir(root);
  for (const name of names) await removeWorkDir(join(root, name), log);
  return names.length;
}

const workRoot = (stateDir: string) => join(stateDir, "work");

/** Nothing is removed while something is mounted below: that would empty the host's /dev, or a repository. */
async function removeWorkDir(path: string, log: Log): Promise<void> {
  await clearLeftovers(path, log);
  const mounts = await mountsBelow(path);
  if (mounts.length > 0)
    throw new Error(`${path} is not removed, because something is mounted there: ${mounts.join(", ")}`);
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}
