import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { FrozenInput } from "../contract.ts";
import { run } from "../process.ts";
import { BuildFailure } from "./build-failure.ts";

/** rpm falls back to another format with a line on standard error, and would then find no package in the image's database. */
const unknownFormat = /invalid %_db_backend/i;

/** Refuses a build whose package database the rpm of this host cannot write. A guest has the same rpm. */
export async function refuseDatabase(
  { rpmDatabase }: Pick<FrozenInput, "rpmDatabase">,
  { workDir, signal }: { workDir: string; signal: AbortSignal },
): Promise<void> {
  if (rpmDatabase === undefined || (await knowsDatabase(rpmDatabase, { workDir, signal }))) return;
  const reason =
    `The base system keeps its package database as ${rpmDatabase}, which this builder's rpm cannot write. ` +
    "Build it on an agent whose rpm can, such as one on openSUSE or Debian 13.";
  throw new BuildFailure({ kind: "failed", reason });
}

async function knowsDatabase(
  format: string,
  { workDir, signal }: { workDir: string; signal: AbortSignal },
): Promise<boolean> {
  const dir = await mkdtemp(join(workDir, "rpmdb-"));
  const lines: string[] = [];
  try {
    const args = ["--define", `_db_backend ${format}`, "--dbpath", dir, "--initdb"];
    const exit = await run("rpmdb", args, { signal, onLine: (line) => void lines.push(line) });
    return "code" in exit && exit.code === 0 && !lines.some((line) => unknownFormat.test(line));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
