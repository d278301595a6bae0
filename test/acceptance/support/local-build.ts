import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join, normalize } from "node:path";
import { buildImage, type BuiltImage, type ImageBuild } from "../../../builder-agent/src/run/image.ts";
import type { FrozenInput } from "../../../builder-agent/src/contract.ts";
import { openWorkDir } from "../../../builder-agent/src/work-dir.ts";

/** The sample distribution that `npm test` has made, or that the environment names if a single file is run. */
export function sampleDistribution(): string {
  const path = process.env["KILN_SAMPLE_DISTRIBUTION"] ?? "";
  if (existsSync(join(path, "main/repodata"))) return path;
  const fix = "make one with sample-distribution/build.sh DIR";
  throw new Error(`KILN_SAMPLE_DISTRIBUTION names no sample distribution: ${fix}`);
}

/** A web server for a folder, which is also available at `prefix`. */
export async function serveFiles(folder: string, prefix = "/"): Promise<{ url: string } & Disposable> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://here").pathname));
    const file = join(folder, path.startsWith(prefix) ? path.slice(prefix.length) : path);
    if (!existsSync(file) || !statSync(file).isFile()) return void response.writeHead(404).end();
    response.writeHead(200, { "content-length": statSync(file).size });
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() };
}

/** Serves the sample distribution's repositories as the Worker does. */
export const serveDistribution = (distribution: string) => serveFiles(distribution, "/repositories/tiny/");

const silent = () => {};
let builds = 0;

/**
 * Runs the agent's own build with the real KIWI in a work directory in `stateDir`. The result exists until `use` ends.
 */
export async function buildHere<T>(
  input: FrozenInput,
  { stateDir, url, ...more }: { stateDir: string; url: string } & Partial<ImageBuild>,
  use: (built: BuiltImage, workDir: string) => T | Promise<T>,
): Promise<T> {
  await using dir = await openWorkDir(stateDir, `build-${++builds}`, silent);
  const reach = { url, credentials: {}, allowHosts: [] };
  const signal = new AbortController().signal;
  const quiet = { onLine: silent, onPhase: silent, onProgress: silent };
  return await use(
    await buildImage(input, { kiwi: "kiwi-ng", workDir: dir.path, reach, signal, ...quiet, ...more }),
    dir.path,
  );
}
