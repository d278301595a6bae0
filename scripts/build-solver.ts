/**
 * Builds src/lib/solver/native/solver.wasm from libsolv, expat, liblzma, libbz2 and our own C.
 *
 *   build-solver.ts            uses the cache if the same inputs were built before
 *   build-solver.ts --check    builds it twice in different folders and compares the bytes
 */
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Complaint } from "./launch/complaint.ts";
import { installHostPackages } from "./launch/host-packages.ts";
import { compileSolver } from "./solver/compile.ts";
import { inputsHash } from "./solver/inputs.ts";
import { cachedModuleFile, moduleFile } from "./solver/places.ts";
import { sourceTrees } from "./solver/sources.ts";

const digest = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

try {
  // The compiler is part of the inputs, so it is needed even if the result is in the cache.
  const missing = await installHostPackages(["solver"]);
  if (missing.length > 0)
    throw new Complaint("The solver cannot be built without its compiler, and the Worker needs it.");
  if (process.argv.includes("--check")) await check();
  else await build();
} catch (error) {
  if (!(error instanceof Complaint)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function build(): Promise<void> {
  const cached = cachedModuleFile(await inputsHash());
  if (!existsSync(cached)) await inWorkFolder(async (folder) => putInPlace(await compileIn(folder), cached));
  if (existsSync(moduleFile) && digest(moduleFile) === digest(cached)) return;
  putInPlace(cached, moduleFile);
  console.log(`solver: ${readFileSync(cached).length} bytes, sha256 ${digest(cached)}`);
}

async function check(): Promise<void> {
  const digests = [];
  for (const _ of ["first", "second"]) {
    digests.push(await inWorkFolder(async (folder) => digest(await compileIn(folder))));
    console.log(`solver: sha256 ${digests.at(-1)}`);
  }
  if (new Set(digests).size === 1) return;
  console.error("solver: the same inputs gave different modules");
  process.exitCode = 1;
}

async function compileIn(folder: string): Promise<string> {
  const startedAt = Date.now();
  const made = await compileSolver(await sourceTrees(folder), folder);
  console.log(`solver: built in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
  return made;
}

async function inWorkFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "kiln-solver-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Replaces the file atomically, because other processes may read or build it. */
function putInPlace(file: string, target: string): void {
  const draft = `${target}.${process.pid}`;
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(file, draft);
  renameSync(draft, target);
}
