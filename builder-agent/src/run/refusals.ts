import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { FrozenInput } from "../contract.ts";
import { enclosed, hasSucceeded, run } from "../process.ts";
import { inRoot } from "../roots/enter.ts";
import { BuildFailure } from "./failure.ts";

/** rpm prints this and falls back to another format. Then it would find no package in the image's database. */
const unknownFormat = /invalid %_db_backend/i;

interface RpmTarget {
  workDir: string;
  /** The root whose rpm is checked. Without it, this host's rpm is. */
  builderRoot?: { file: string } | undefined;
  signal: AbortSignal;
}

/**
 * Refuses a build whose package database rpm cannot write. A guest made from this host's packages has this host's rpm.
 */
export async function refuseDatabase(
  { rpmDatabase }: Pick<FrozenInput, "rpmDatabase">,
  target: RpmTarget,
): Promise<void> {
  if (rpmDatabase === undefined || (await knowsDatabase(rpmDatabase, target))) return;
  const reason =
    `The base system keeps its package database as ${rpmDatabase}, which this builder's rpm cannot write. ` +
    "Build it on an agent whose rpm can, such as one on openSUSE, or with the builder root debian-13.";
  throw new BuildFailure({ kind: "failed", reason });
}

async function knowsDatabase(format: string, { workDir, builderRoot, signal }: RpmTarget): Promise<boolean> {
  const dir = await mkdtemp(join(workDir, "rpmdb-"));
  const lines: string[] = [];
  try {
    const args = ["--define", `_db_backend ${format}`, "--dbpath", dir, "--initdb"];
    const command = inRoot(builderRoot, workDir, ["rpmdb", args]);
    const exit = await run(...(builderRoot ? enclosed(...command) : command), {
      signal,
      onLine: (line) => void lines.push(line),
    });
    return hasSucceeded(exit) && !lines.some((line) => unknownFormat.test(line));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const deviceMapper = "/dev/mapper/control";

/** Refuses an image with volumes if the kernel has no device mapper, before its packages are fetched. */
export function refuseVolumes({ description }: Pick<FrozenInput, "description">, control = deviceMapper): void {
  if (!description["config.xml"]?.includes("<systemdisk ") || existsSync(control)) return;
  const reason = "The disk cannot be divided into volumes (LVM): the builder's kernel has no device mapper.";
  throw new BuildFailure({ kind: "error", reason });
}
