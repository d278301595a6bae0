import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { projectRoot } from "../launch/project.ts";

const here = join(projectRoot, "test/simulation");

/** A change in one place of a file. */
export interface Change {
  file: string;
  before: string;
  after: string;
}

/** Sizes that would make a simulation slow. */
const smaller: readonly Change[] = [
  { file: "src/storage/part-buffer.ts", before: "partBytes = 8 * 2 ** 20", after: "partBytes = 4096" },
  { file: "src/lib/repodata/streams.ts", before: "chunkBytes = 128 * 1024", after: "chunkBytes = 1024" },
];

/**
 * Caches work that repeats with the same result. Drizzle calls `is` for every part of every statement, which walks up
 * the classes of the value each time. The result depends only on the prototype. Agents send few tokens, each in many
 * calls.
 */
const faster: readonly Change[] = [
  {
    file: "src/domain/secrets.ts",
    before: `createHmac("sha256", pepper).update(secret).digest("hex");`,
    after: `{
  const both = JSON.stringify([pepper, secret]);
  const hash = keyedHashes.get(both) ?? createHmac("sha256", pepper).update(secret).digest("hex");
  keyedHashes.set(both, hash);
  return hash;
};
const keyedHashes = new Map();`,
  },
  {
    file: "node_modules/drizzle-orm/entity.js",
    before: "function is(value, type) {",
    after: `const answers = new WeakMap();
function is(value, type) {
  const prototype = value && typeof value === "object" ? Object.getPrototypeOf(value) : null;
  if (prototype === null) return climb(value, type);
  const ofPrototype = answers.get(prototype) ?? new Map();
  answers.set(prototype, ofPrototype);
  const answer = ofPrototype.get(type) ?? climb(value, type);
  ofPrototype.set(type, answer);
  return answer;
}
function climb(value, type) {`,
  },
];

/**
 * The agent's modules that access the host, by the module that imports them, and their replacements in a simulation.
 */
const ofHost = [
  {
    of: "agent.ts",
    modules: /\/(?:disk-room|host-report|modified\/ended-disks|roots\/store|testdrive\/vnc-port)\.ts$/,
    by: "host/machine.ts",
  },
  { of: "running-builds.ts", modules: /\/run\/run-build\.ts$/, by: "host/machine.ts" },
  { of: "agent.ts", modules: /\/snapshot\/snapshots\.ts$/, by: "host/guest.ts" },
  {
    of: "testdrive/run-testdrive.ts",
    modules:
      /\/(?:disk|image|session-dir|session-sandbox|vnc-tunnel|doctor\/acceleration|modified\/session-files)\.ts$/,
    by: "host/guest.ts",
  },
];

const replaced: Record<string, string> = {
  "cloudflare:workers": "runtime/objects.ts",
  "node:timers/promises": "runtime/timers.ts",
  ws: "host/ws.ts",
  "#lib/loop/pace": "runtime/pace.ts",
  "#lib/solver/shared": "runtime/solvers.ts",
};

const simulated: Plugin = {
  name: "simulated",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(?:${Object.keys(replaced).join("|")})$`) }, ({ path }) => ({
      path: join(here, replaced[path] ?? ""),
    }));
    onResolve({ filter: /^node:crypto$/ }, ({ importer }) =>
      importer.startsWith(here) ? { path: "node:crypto", external: true } : { path: join(here, "runtime/chance.ts") },
    );
    onResolve({ filter: /^cloudflare:/ }, ({ path }) => ({ path, namespace: "absent" }));
    onResolve({ filter: /\/solver\.wasm$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
      namespace: "wasm",
    }));
    onResolve({ filter: /\.wasm$/ }, ({ path }) => ({ path, namespace: "absent" }));
    onResolve({ filter: /^agent:/ }, ({ path }) => ({
      path: join(projectRoot, "builder-agent/src", `${path.slice("agent:".length)}.ts`),
    }));
    for (const { of, modules, by } of ofHost)
      onResolve({ filter: modules }, ({ importer }) =>
        importer.endsWith(`builder-agent/src/${of}`) ? { path: join(here, by) } : undefined,
      );
    onLoad({ filter: /.*/, namespace: "wasm" }, ({ path }) => ({
      contents: `import { readFileSync } from "node:fs";
export default new WebAssembly.Module(readFileSync(${JSON.stringify(path)}));`,
      resolveDir: here,
    }));
    onLoad({ filter: /.*/, namespace: "absent" }, () => ({
      contents: "export const connect = undefined; export default undefined;",
    }));
  },
};

const changed = (changes: readonly Change[]): Plugin => ({
  name: "changed",
  setup({ onLoad }) {
    for (const [file, ofFile] of Map.groupBy(changes, (change) => change.file))
      onLoad({ filter: new RegExp(`${file.replaceAll(/[.-]/g, "\\$&")}$`) }, ({ path }) => ({
        contents: ofFile.reduce(withChange, readFileSync(path, "utf8")),
        loader: "ts",
      }));
  },
});

function withChange(content: string, { file, before, after }: Change): string {
  if (content.split(before).length !== 2) throw new Error(`${file} does not have this once: ${before}`);
  return content.replace(before, () => after);
}

/**
 * Bundles the simulation with the service and the agent as they are now, or with a mistake. Returns the file.
 *
 * @param hasSourceMap whether errors name the places in the sources; Node reads the map even if nothing uses it
 */
export async function bundleSimulation(change: Change | undefined, hasSourceMap: boolean): Promise<string> {
  const folder = join(projectRoot, ".kiln/simulation");
  await mkdir(folder, { recursive: true });
  const outfile = join(folder, `${process.pid}-${count++}.mjs`);
  await build({
    entryPoints: [join(here, "entry.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    jsx: "automatic",
    jsxImportSource: "hono/jsx",
    sourcemap: hasSourceMap && "inline",
    logLevel: "error",
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
    plugins: [changed([...smaller, ...faster, ...(change ? [change] : [])]), simulated],
  });
  return outfile;
}

let count = 0;
