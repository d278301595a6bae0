import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { buildSampleDistribution, findSampleDistribution } from "../../scripts/launch/sample-distribution.ts";
import { openSolver, type Arch, type Solver } from "#lib/solver/solver";

const moduleFile = new URL("../../src/lib/solver/native/solver.wasm", import.meta.url);

export const solverModule = (): Promise<WebAssembly.Module> => WebAssembly.compile(readFileSync(moduleFile));

/** The folder of the sample distribution. Builds it if it does not exist, which takes minutes. */
export const tinyLinux = async (): Promise<string> =>
  ((await findSampleDistribution()) ?? (await buildSampleDistribution())).path;

/** A solver with rpm-md repositories, keyed by name, and their folders. */
export async function solverOf(repositories: { name: string; folder: string }[], arch?: Arch): Promise<Solver> {
  const solver = await openSolver(await solverModule(), arch);
  for (const { name, folder } of repositories) read(solver, name, folder);
  solver.ready();
  return solver;
}

function read(solver: Solver, name: string, folder: string): void {
  const repomd = readFileSync(join(folder, "repodata/repomd.xml"), "utf8");
  const href = /<data type="primary">.*?<location href="([^"]+)"/s.exec(repomd)?.[1] ?? "";
  const repository = solver.addRepository(name);
  repository.readPrimary(gunzipSync(readFileSync(join(folder, href))));
  repository.finish();
}
