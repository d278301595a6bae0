/** npm run deploy:check: everything about a deployment that can be checked without an account. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { unstable_readConfig } from "wrangler";
import { configurationFor } from "./deploy/configuration.ts";
import { configurationProblems } from "./deploy/configuration-problems.ts";
import { startUpOf } from "./deploy/start-up.ts";
import { wranglerOf } from "./deploy/wrangler.ts";
import { bundleWorker } from "./launch/bundle.ts";
import { projectRoot } from "./launch/project.ts";
import { print } from "./launch/progress.ts";

/** Cloudflare's limit for a compressed Worker on the smallest plan. */
const maxGzipBytes = 3_000_000;
/**
 * Cloudflare lets a Worker take a second to start. The speed of its machines is unknown, so the limit is a number of
 * starts of an empty Worker. Each takes 80 to 100 ms on a quiet machine.
 */
const maxStartUps = 12;

const folder = join(projectRoot, "dist/production");
const worker = join(folder, "worker");
const sample = {
  accountId: "0".repeat(32),
  host: "kiln.test",
  guestsHost: "guests.test",
  databaseIds: { kiln: "1", "kiln-packages": "2" },
  queueId: "1",
};

const problems = [...(await bundleProblems()), ...configured()];
for (const problem of problems) console.error(`kiln: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Bundles like `npm run deploy`, and measures the result. */
async function bundleProblems(): Promise<string[]> {
  await bundleWorker(); // makes the .wasm files and the pages' files
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const config = join(folder, "wrangler.json");
  const configuration = configurationFor("production", sample, folder);
  writeFileSync(config, JSON.stringify(configuration, null, 2));
  print(await wranglerOf(process.env).must(["deploy", "--dry-run", "--config", config, "--outdir", worker]));
  const parts = readdirSync(worker).filter((name) => /\.(js|wasm)$/.test(name));
  const gzip = parts.reduce((sum, name) => sum + gzipSync(readFileSync(join(worker, name))).length, 0);
  const { compatibility_date: date, compatibility_flags: flags, vars } = configuration;
  const { ms, times } = await startUpOf(worker, { date, flags, vars });
  const start = `${times.toFixed(1)} times as much processor time as an empty Worker`;
  print(`Worker: ${Math.round(gzip / 1_000)} kB gzip (limit ${maxGzipBytes / 1_000})`);
  print(`Its start takes ${start} (limit ${maxStartUps}): ${Math.round(ms)} ms`);
  return [
    ...(gzip > maxGzipBytes ? [`The Worker has ${gzip} bytes gzip; Cloudflare's limit is ${maxGzipBytes}.`] : []),
    ...(times > maxStartUps ? [`The Worker's start takes ${start}; the limit is ${maxStartUps}.`] : []),
  ];
}

function readEnvironment(env: string) {
  return unstable_readConfig({ config: join(projectRoot, "wrangler.toml"), env }, { hideWarnings: true });
}

function configured(): string[] {
  const bundle = readFileSync(join(worker, "index.js"), "utf8");
  const [, exported = ""] = [...bundle.matchAll(/^export \{([^}]*)\}/gm)].at(-1) ?? [];
  const exports = exported.split(",").map((each) => each.trim().split(" as ").at(-1) ?? "");
  const require = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  const { version }: { version: string } = require("workerd/package.json");
  const keysPage = readFileSync(join(projectRoot, "docs/operations/keys.md"), "utf8");
  const facts = { exports, keysPage, workerdVersion: version, today: new Date() };
  return configurationProblems(readEnvironment("production"), readEnvironment(""), facts);
}
