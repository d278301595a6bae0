import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { command } from "./command.ts";
import { inputsHash } from "./inputs-hash.ts";
import { node, projectRoot } from "./project.ts";
import { step } from "./progress.ts";

/** The content of dist/worker/embedded.json, which `scripts/build-worker.ts` writes next to the modules. */
export const Bundle = z.object({
  inputsHash: z.string(),
  /** File names in dist/worker, the entry module first. */
  modules: z.array(z.object({ type: z.enum(["ESModule", "CompiledWasm"]), path: z.string() })).min(1),
  /** The default environment of wrangler.toml, as miniflare's options. */
  worker: z.looseObject({
    name: z.string(),
    bindings: z.record(z.string(), z.unknown()),
    durableObjects: z.record(z.string(), z.looseObject({ className: z.string() })),
    d1Databases: z.record(z.string(), z.unknown()).optional(),
    assets: z.looseObject({ directory: z.string() }).optional(),
  }),
});
export type Bundle = z.infer<typeof Bundle>;

export const bundleFolder = join(projectRoot, "dist/worker");
export const assetsFolder = join(projectRoot, "dist/assets");
const inputs = [
  "src",
  "migrations/meta/_journal.json",
  "wrangler.toml",
  "package-lock.json",
  "tsconfig.json",
  "scripts",
];
// The build itself compiles the .wasm files from their sources. The launcher's own files are not part of the Worker.
const isInput = (path: string) =>
  !path.endsWith(".wasm") && (!path.startsWith("scripts/") || path.startsWith("scripts/build-"));

/** Whether the bundle was made from the current sources. */
export const isBundled = () => readBundle()?.inputsHash === bundleInputsHash();

/** Bundles the Worker from src, if something has changed. */
export async function bundleWorker(signal?: AbortSignal): Promise<Bundle> {
  if (!isBundled()) {
    const script = join(projectRoot, "scripts/build-worker.ts");
    await step("Worker bundle", (say) => command(node, [script], { cwd: projectRoot, onLine: say, signal }));
  }
  const bundle = readBundle();
  if (bundle === undefined) throw new Error("scripts/build-worker.ts wrote no bundle");
  return bundle;
}

export const bundleInputsHash = () => inputsHash(projectRoot, inputs, isInput);

function readBundle(): Bundle | undefined {
  const file = join(bundleFolder, "embedded.json");
  if (!existsSync(file) || !existsSync(assetsFolder)) return undefined;
  const found = Bundle.safeParse(JSON.parse(readFileSync(file, "utf8")));
  return found.data?.modules.every((module) => existsSync(join(bundleFolder, module.path))) ? found.data : undefined;
}
