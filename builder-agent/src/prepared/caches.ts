import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { openBaseRoots, type BaseRoots } from "./bases.ts";
import { openPreparedDisks, type PreparedDisks } from "./disks.ts";
import { openPreparedRoots, type PreparedRoots } from "./store.ts";

/** How long an unused base stays. Debian's packages change about as often. */
const baseDays = 7;

/** The roots and disks that an agent caches for other formats of the same version, and for later versions. */
export interface PreparedCaches {
  bases: BaseRoots;
  roots: PreparedRoots;
  disks: PreparedDisks;
}

/**
 * Bases, roots and disks get `preparedGb` each. Undefined if the operator has switched them off. Then earlier caches
 * are deleted.
 */
export async function openPrepared(
  config: Pick<Config, "stateDir" | "preparedGb" | "preparedMinutes">,
): Promise<PreparedCaches | undefined> {
  const dir = join(config.stateDir, "prepared");
  if (config.preparedGb === 0) {
    await rm(dir, { recursive: true, force: true });
    return undefined;
  }
  const limits = { maxBytes: config.preparedGb * 1e9, maxAgeMs: config.preparedMinutes * 60_000 };
  const baseLimits = { ...limits, maxAgeMs: baseDays * 24 * 3600_000 };
  return {
    bases: await openBaseRoots(join(dir, "bases"), baseLimits),
    roots: await openPreparedRoots(join(dir, "roots"), limits),
    disks: await openPreparedDisks(join(dir, "disks"), limits),
  };
}
