import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { openKeptDisks, type KeptDisks } from "./disks.ts";
import { openPreparedRoots, type PreparedRoots } from "./store.ts";

/** What an agent keeps of builds, for other formats of the same version. */
export interface Kept {
  roots: PreparedRoots;
  disks: KeptDisks;
}

/** Roots and disks get `preparedGb` each. Undefined: the operator wants none kept, and what was is gone. */
export async function openKept(
  config: Pick<Config, "stateDir" | "preparedGb" | "preparedMinutes">,
): Promise<Kept | undefined> {
  const dir = join(config.stateDir, "prepared");
  if (config.preparedGb === 0) {
    await rm(dir, { recursive: true, force: true });
    return undefined;
  }
  const limits = { maxBytes: config.preparedGb * 1e9, maxAgeMs: config.preparedMinutes * 60_000 };
  return {
    roots: await openPreparedRoots(join(dir, "roots"), limits),
    disks: await openKeptDisks(join(dir, "disks"), limits),
  };
}
