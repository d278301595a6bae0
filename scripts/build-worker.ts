/** Bundles the Worker into dist/worker and its pages' files into dist/assets, for the embedded service. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";
import { assetsFolder, Bundle, bundleFolder, bundleInputsHash } from "./launch/bundle.ts";
import { command } from "./launch/command.ts";
import { node, projectRoot } from "./launch/project.ts";

const draft = `${bundleFolder}.${process.pid}`;
const quiet = {
  ...process.env,
  KILN_DEPLOY: "1",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  NO_COLOR: "1",
};

const hash = bundleInputsHash();
await buildParts();
await bundle();
replaceBundle({ inputsHash: hash, modules: modulesOf(draft), worker: workerOptions() });

async function buildParts(): Promise<void> {
  mkdirSync(assetsFolder, { recursive: true });
  for (const part of ["build-wasm.ts", "build-solver.ts", "build-assets.ts"]) {
    const script = join(projectRoot, "scripts", part);
    if (existsSync(script)) await run(node, [script]);
  }
}

async function bundle(): Promise<void> {
  const wrangler = join(projectRoot, "node_modules/wrangler/bin/wrangler.js");
  await run(node, [wrangler, "deploy", "--dry-run", "--env=", "--outdir", draft]);
}

async function run(name: string, args: string[]): Promise<void> {
  await command(name, args, { cwd: projectRoot, env: quiet, onLine: (line) => console.log(line) });
}

function modulesOf(folder: string): Bundle["modules"] {
  const wasm = readdirSync(folder).filter((name) => name.endsWith(".wasm"));
  return [{ type: "ESModule", path: "index.js" }, ...wasm.map((path) => ({ type: "CompiledWasm" as const, path }))];
}

/**
 * The bindings and objects of wrangler.toml's default environment. Variables come only from that file: wrangler would
 * add this process's environment, including secrets, which must not be written to a file here.
 */
function workerOptions(): Bundle["worker"] {
  const config = unstable_readConfig({ config: join(projectRoot, "wrangler.toml") });
  const { modulesRules: _, ...options } = unstable_getMiniflareWorkerOptions(config).workerOptions;
  return Bundle.shape.worker.parse({ ...options, name: config.name, bindings: config.vars });
}

function replaceBundle(made: Bundle): void {
  writeFileSync(join(draft, "embedded.json"), JSON.stringify(made, null, 2));
  rmSync(bundleFolder, { recursive: true, force: true });
  renameSync(draft, bundleFolder);
}
