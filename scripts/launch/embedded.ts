import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { convertV4MiniflareOptions, HttpOptions_Style, type V4MiniflareOptions } from "miniflare";
import { isIPv6 } from "node:net";
import { specialNetworks } from "../../src/lib/contract/outside.ts";
import { openBoundedLog } from "./bounded-log.ts";
import { assetsFolder, type Bundle, bundleFolder } from "./bundle.ts";
import { type Control, controlWorker, makeControlFolder, openControl } from "./control.ts";
import { removeEndedObjects } from "./ended-objects.ts";
import { applyMigrations } from "./migrations.ts";
import { DiskRoom } from "./disk-room.ts";
import { ownSocket } from "./own-socket.ts";
import { projectRoot } from "./project.ts";
import { warn } from "./progress.ts";
import { startRuntime } from "./runtime.ts";

type Code = {
  bundle: Bundle;
  /** The folder of the bundle's modules. The service's own by default. */
  modulesFolder?: string;
};

export type EmbeddedOptions = Code & {
  /**
   * The release that runs the Durable Objects, while this one runs everything else. Cloudflare mixes two releases like
   * this for some minutes after a deploy. By default, this one runs both.
   */
  objects?: Code;
  /** The folder of the migrations that the bundle needs. The service's own by default. */
  migrationsFolder?: string;
  host: string;
  port: number;
  stateDirectory: string;
  /** Secrets, and variables that override those of wrangler.toml. */
  bindings: Record<string, string>;
  /** Addresses that `env.OUTSIDE_LISTED` may reach in addition to the public network. */
  outsideCidrs: readonly string[];
  /** `HOST:PORT` of the HTTP proxy behind `env.CATALOGUE_PROXY`. */
  catalogueProxy?: string | undefined;
  /** The port of the Worker's V8 inspector on loopback, for measurements. */
  inspectorPort?: number;
  /** The interval of the Worker's cron handler. 60 s by default. */
  cronEveryMs?: number;
};

const defaultCronEveryMs = 60_000;

/** Runs the bundled Worker with all its bindings on this machine. Its data is in the state directory. */
export async function startEmbedded(options: EmbeddedOptions): Promise<{ stop(): Promise<void> }> {
  collectGarbageEarly();
  const logFile = join(options.stateDirectory, "worker.log");
  const log = openBoundedLog(logFile);
  const controlFolder = makeControlFolder(options.stateDirectory);
  const room = new DiskRoom(options.stateDirectory);
  const given = convertV4MiniflareOptions({
    ...miniflareOptions(options, room, log.append),
    unsafeRuntimeEnv: guardedWorkerd(controlFolder),
  });
  removeEndedObjects(options.stateDirectory);
  const temporaryFolder = emptied(join(options.stateDirectory, "temporary"));
  const runtime = await startRuntime(given, { log: { path: logFile, append: log.append }, temporaryFolder });
  const control = openControl(controlFolder);
  await applyMigrations(control, options.migrationsFolder ?? join(projectRoot, "migrations"));
  const watch = await room.watch(control);
  const cron = await startCron(control, options.cronEveryMs ?? defaultCronEveryMs, log.append);
  return {
    stop: async () => {
      clearInterval(cron);
      clearInterval(watch);
      await runtime.stop();
      control.close();
      log.close();
    },
  };
}

/**
 * Removes the leftovers of a killed launcher. The lock of the state directory guarantees that no other launcher runs.
 */
function emptied(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

/**
 * Neither workerd nor miniflare runs [triggers] crons. The first tick continues an earlier process's unfinished work.
 */
async function startCron(control: Control, everyMs: number, log: (line: string) => void): Promise<NodeJS.Timeout> {
  const tick = () => control.tick().catch((error: unknown) => log(`error cron: ${String(error)}`));
  await tick();
  return setInterval(() => void tick(), everyMs);
}

/** Makes miniflare start workerd.sh instead of its own workerd, and returns that script's environment. */
function guardedWorkerd(controlFolder: string): Record<string, string> {
  const require = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  const workerd: { default: string } = require("workerd");
  process.env["MINIFLARE_WORKERD_PATH"] = join(projectRoot, "scripts/launch/workerd.sh");
  return { KILN_WORKERD: workerd.default, KILN_CONTROL_FOLDER: controlFolder };
}

/**
 * The simulated R2 reads an upload in small pieces, each a short-lived object with a buffer outside the heap. By
 * default V8 collects an isolate's garbage only at 16 MiB of objects, which means 80 MiB of buffers. With half of that,
 * workerd is equally fast.
 */
function collectGarbageEarly(): void {
  process.env["MINIFLARE_WORKERD_V8_FLAGS"] ??= "--max-semi-space-size=8"; // MiB
}

function miniflareOptions(options: EmbeddedOptions, room: DiskRoom, log: (line: string) => void): V4MiniflareOptions {
  const persistence = join(options.stateDirectory, "worker");
  mkdirSync(persistence, { recursive: true });
  chmodSync(persistence, 0o700); // the state directory may have existed, open to every user of this machine
  const [service, ...others] = serviceWorkers(options, room);
  return {
    // The address of miniflare's own socket, which workerd.sh moves.
    host: "127.0.0.1",
    port: 0,
    cf: false,
    logRequests: false,
    ...(options.inspectorPort !== undefined && { inspectorHost: "127.0.0.1", inspectorPort: options.inspectorPort }),
    telemetry: { enabled: false },
    resourcePersistencePath: persistence,
    handleStructuredLogs: ({ level, message }) => showLog(level, message, log),
    workers: [controlWorker(service), service, ...others],
  } as V4MiniflareOptions;
}

type ServiceWorker = ReturnType<typeof workerOptions> & { queueConsumers?: Record<string, unknown> };

/**
 * First the Worker that gets all requests, messages and ticks, then the one that runs its objects, if that is another.
 */
function serviceWorkers(options: EmbeddedOptions, room: DiskRoom): [ServiceWorker, ...ServiceWorker[]] {
  const service = workerOptions(options, options, room);
  if (options.objects === undefined) return [service];
  // The Worker's name is a part of each object's id, so it stays with the objects.
  const objects = workerOptions(options.objects, options, room);
  return [
    { ...service, name: `${service.name}-without-objects`, durableObjects: boundIn(objects) },
    { ...objects, queueConsumers: {}, unsafeBindings: [] },
  ];
}

const boundIn = ({ name, durableObjects }: ServiceWorker) =>
  Object.fromEntries(Object.entries(durableObjects).map(([key, one]) => [key, { ...one, scriptName: name }]));

function workerOptions({ bundle, modulesFolder }: Code, options: EmbeddedOptions, room: DiskRoom) {
  const { host, port, bindings, outsideCidrs, catalogueProxy } = options;
  const { worker, modules } = bundle;
  const folder = modulesFolder ?? bundleFolder;
  return {
    ...worker,
    rootPath: projectRoot,
    modulesRoot: folder,
    modules: modules.map(({ type, path }) => ({ type, path: join(folder, path) })),
    assets: worker.assets && { ...worker.assets, directory: assetsFolder },
    bindings: { ...worker.bindings, ...bindings },
    // workerd checks the address that it connects to, after lookups and redirects (src/domain/outside.ts).
    serviceBindings: {
      DISK: room.answer,
      OUTSIDE: { network: { allow: ["public"], deny: [...specialNetworks] } },
      // The operator's address is more specific than a denied network that contains it, so it wins.
      OUTSIDE_LISTED: { network: { allow: ["public", ...outsideCidrs], deny: [...specialNetworks] } },
      // A proxy needs the whole URL in the request line.
      ...(catalogueProxy && {
        CATALOGUE_PROXY: { external: { address: catalogueProxy, http: { style: HttpOptions_Style.PROXY } } },
      }),
    },
    unsafeBindings: [ownSocket(`${isIPv6(host) ? `[${host}]` : host}:${port}`)],
  };
}

/** Errors that workerd reports as its own although a user caused them, each with a pattern of its messages. */
const notOurErrors: Readonly<Record<string, RegExp>> = {
  // workerd answers 500, because no Worker handles CONNECT. A handler could not answer anything else, because workerd
  // sends 200 before it calls one.
  "malformed request": /\bconnect(\(\) function| event but)\b/,
  // The Worker gets an exception, and reports it to the user.
  "unknown host": /\bfailed to lookup address information\b/,
};

function showLog(level: string, message: string, log: (line: string) => void): void {
  const [cause] = Object.entries(notOurErrors).find(([, pattern]) => pattern.test(message)) ?? [];
  if (cause !== undefined) return log(`log ${cause}: ${message}`);
  log(`${level} ${message}`);
  if (level === "error" || level === "warn") warn(`worker: ${message}`);
}
