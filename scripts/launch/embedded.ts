import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { convertV4MiniflareOptions, type Miniflare, type V4MiniflareOptions } from "miniflare";
import { openBoundedLog } from "./bounded-log.ts";
import { assetsFolder, type Bundle, bundleFolder } from "./bundle.ts";
import { applyMigrations } from "./migrations.ts";
import { projectRoot } from "./project.ts";
import { warn } from "./progress.ts";
import { startRuntime } from "./runtime.ts";

export type EmbeddedOptions = {
  bundle: Bundle;
  /** Where the bundle's modules are, if they are not the service's own. */
  modulesFolder?: string;
  host: string;
  port: number;
  stateDirectory: string;
  /** Secrets and variables over those of wrangler.toml. */
  bindings: Record<string, string>;
  /** What `env.OUTSIDE_LISTED` may reach beside the public network. */
  outsideCidrs: readonly string[];
  /** Where V8's inspector of the Worker listens, on this machine alone; for measurements. */
  inspectorPort?: number;
  /** How often cron calls the Worker; 60 s. */
  cronEveryMs?: number;
};

const defaultCronEveryMs = 60_000;

/** Runs the bundled Worker on this machine with everything it is bound to; its state is in the state directory. */
export async function startEmbedded(options: EmbeddedOptions): Promise<{ stop(): Promise<void> }> {
  useGuardedWorkerd();
  collectGarbageEarly();
  const logFile = join(options.stateDirectory, "worker.log");
  const log = openBoundedLog(logFile);
  const given = convertV4MiniflareOptions(miniflareOptions(options, log.append));
  const runtime = await startRuntime(given, { path: logFile, append: log.append });
  await applyMigrations(await runtime.miniflare.getD1Database("DB"), join(projectRoot, "migrations"));
  const cron = startCron(runtime.miniflare, options.cronEveryMs ?? defaultCronEveryMs, log.append);
  return {
    stop: async () => {
      clearInterval(cron);
      await runtime.stop();
      log.close();
    },
  };
}

/** Neither workerd nor miniflare runs [triggers] crons. */
function startCron(miniflare: Miniflare, everyMs: number, log: (line: string) => void): NodeJS.Timeout {
  const tick = async () => {
    // Asked for at each tick: the Worker of a workerd that ended is of no more use.
    const worker = await miniflare.getWorker();
    await worker.scheduled({ scheduledTime: new Date(), cron: "* * * * *" });
  };
  return setInterval(() => {
    tick().catch((error: unknown) => log(`error cron: ${String(error)}`));
  }, everyMs);
}

/** miniflare starts what this variable names in place of its own workerd. */
function useGuardedWorkerd(): void {
  const require = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  const workerd: { default: string } = require("workerd");
  process.env["KILN_WORKERD"] = workerd.default;
  process.env["MINIFLARE_WORKERD_PATH"] = join(projectRoot, "scripts/launch/workerd.sh");
}

/**
 * The simulated R2 reads an upload in small pieces, each a short-lived object with a buffer outside the heap. V8 would let those of
 * an isolate grow to 16 MiB before it looks for garbage, and the buffers with them: to 80 MiB. With half of it workerd is as fast.
 */
function collectGarbageEarly(): void {
  process.env["MINIFLARE_WORKERD_V8_FLAGS"] ??= "--max-semi-space-size=8"; // MiB
}

function miniflareOptions(options: EmbeddedOptions, log: (line: string) => void): V4MiniflareOptions {
  const persistence = join(options.stateDirectory, "worker");
  mkdirSync(persistence, { recursive: true });
  return {
    // The service's own address is the direct socket below. miniflare's entry Worker in front of it would answer
    // /cdn-cgi/local/r2/public/… with any object, without credentials, and cost half of the speed; only miniflare itself
    // uses it here, on a loopback port of the moment.
    host: "127.0.0.1",
    port: 0,
    cf: false,
    logRequests: false,
    ...(options.inspectorPort !== undefined && { inspectorHost: "127.0.0.1", inspectorPort: options.inspectorPort }),
    telemetry: { enabled: false },
    resourcePersistencePath: persistence,
    handleStructuredLogs: ({ level, message }) => showLog(level, message, log),
    workers: [workerOptions(options)],
  } as V4MiniflareOptions;
}

function workerOptions({ bundle, modulesFolder, host, port, bindings, outsideCidrs }: EmbeddedOptions) {
  const { worker, modules } = bundle;
  const folder = modulesFolder ?? bundleFolder;
  return {
    ...worker,
    rootPath: projectRoot,
    modulesRoot: folder,
    modules: modules.map(({ type, path }) => ({ type, path: join(folder, path) })),
    assets: worker.assets && { ...worker.assets, directory: assetsFolder },
    bindings: { ...worker.bindings, ...bindings },
    // workerd checks the address that it really connects to, after look-ups and redirects (src/domain/outside.ts).
    serviceBindings: {
      OUTSIDE: { network: { allow: ["public"], deny: [] } },
      OUTSIDE_LISTED: { network: { allow: ["public", ...outsideCidrs], deny: [] } },
    },
    unsafeDirectSockets: [{ host, port }],
  };
}

function showLog(level: string, message: string, log: (line: string) => void): void {
  log(`${level} ${message}`);
  if (level === "error" || level === "warn") warn(`worker: ${message}`);
}
