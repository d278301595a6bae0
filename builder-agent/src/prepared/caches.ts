import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { openPreparedDisks, type PreparedDisks } from "./disks.ts";
import { openPreparedRoots, type PreparedRoots } from "./store.ts";

/** What an agent caches of builds, for other formats of the same version. */
export interface PreparedCaches {
  roots: PreparedRoots;
  disks: PreparedDisks;
}

/** Roots and disks get `preparedGb` each. Undefined: the operator wants no cache. What an earlier one stored is deleted. */
export async function openPrepared(
  config: Pick<Config, "stateDir" | "preparedGb" | "preparedMinutes">,
): Promise<PreparedCaches | undefined> {
  const dir = join(config.stateDir, "prepared");
  if (config.preparedGb === 0) {
    await rm(dir, { recursive: true, force: true });
    return undefined;
  }
  const limits = { maxBytes: config.preparedGb * 1e9, maxAgeMs: config.preparedMinutes * 60_000 };
  return {
    roots: await openPreparedRoots(join(dir, "roots"), limits),
    disks: await openPreparedDisks(join(dir, "disks"), limits),
  };
}
