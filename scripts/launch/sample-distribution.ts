import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { command } from "./command.ts";
import { isDebian } from "./host-packages.ts";
import { projectRoot } from "./project.ts";
import { step } from "./progress.ts";

export type SampleDistribution = { hash: string; path: string };

const script = join(projectRoot, "sample-distribution/build.sh");
const maxCachedBuilds = 3;

/** The cached build of the sample distribution for the current inputs, if there is one. */
export async function findSampleDistribution(): Promise<SampleDistribution | undefined> {
  if (!isDebian()) return undefined;
  const hash = (await command(script, ["--inputs-hash"])).trim();
  const path = join(cacheFolder(), hash);
  return isBuild(path) ? { hash, path } : undefined;
}

/** Builds the sample distribution into this user's cache. */
export async function buildSampleDistribution(signal?: AbortSignal): Promise<SampleDistribution> {
  const cache = cacheFolder();
  mkdirSync(cache, { recursive: true });
  const made = join(cache, `made-by-${process.pid}`);
  await step("Sample distribution (built once)", (say) => command(script, [made], { onLine: say, signal }));
  // A first build may update apt's lists and so change its own inputs. It writes their hash itself.
  const hash = readFileSync(join(made, "inputs-hash"), "utf8").trim();
  const path = join(cache, hash);
  if (isBuild(path)) rmSync(made, { recursive: true });
  else renameSync(made, path);
  forgetOldBuilds(cache);
  return { hash, path };
}

function cacheFolder(): string {
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "kiln/sample-distribution");
}

function isBuild(path: string): boolean {
  return statSync(join(path, "main/repodata/repomd.xml"), { throwIfNoEntry: false }) !== undefined;
}

function forgetOldBuilds(cache: string): void {
  const builds = readdirSync(cache)
    .filter((name) => /^[0-9a-f]{64}$/.test(name))
    .map((name) => ({ path: join(cache, name), madeAt: statSync(join(cache, name)).mtimeMs }))
    .toSorted((a, b) => b.madeAt - a.madeAt);
  for (const { path } of builds.slice(maxCachedBuilds)) rmSync(path, { recursive: true, force: true });
}
