import { join } from "node:path";
import { parseArgs } from "node:util";
import { runAgent } from "./agent.ts";
import { orRefuse, UsageRefused } from "./command-line.ts";
import { configKeys, ConfigRefused, readConfig, type Config, type ConfigKey } from "./config.ts";
import { isServed, type Capabilities, type HelloAnswer } from "./contract.ts";
import { incarnationIn } from "./incarnation.ts";
import { getCapabilities } from "./doctor/capabilities.ts";
import { openImageCache } from "./image-cache.ts";
import { lockStateDir } from "./lock.ts";
import { openLog, sentenceOf, type Log } from "./log.ts";
import { openConfiguredPackageCache } from "./packages/package-cache.ts";
import { ownCommand } from "./own-command.ts";
import { connectQueue } from "./queue.ts";
import { rebuildCommand } from "./rebuild/command.ts";
import { isWorthRetry, withRetry } from "./retry.ts";
import { openPrepared } from "./prepared/caches.ts";
import { rootCommand } from "./roots/command.ts";
import { RootFault } from "./roots/definition.ts";
import { openStateDir } from "./state-dir.ts";
import { killOrphans } from "./testdrive/orphans.ts";
import { getSandbox } from "./testdrive/session-sandbox.ts";
import { clearWorkDirs } from "./work-dir.ts";
import { connectWorker, type WorkerApi } from "./worker-api.ts";

/** The time allowed for shutdown after the first signal. The next start cleans up what is left. */
const stopWithinMs = 5_000;

/**
 * Ctrl-C reaches the whole process group, and npm and scripts/node24.mjs send it again. Within this time, it counts as
 * the same signal.
 */
const sameSignalMs = 1_000;

function keyHelp({ key, environment, meaning, default: fallback }: ConfigKey): string {
  const isRequired = fallback === "required";
  const text = `\n  ${key} (${environment})\n    ${meaning}. ${isRequired ? "Required." : `Default: ${fallback}.`}\n`;
  return text.replaceAll("`", "");
}

const usage = `${ownCommand("run", "--config FILE")}
${ownCommand("root", "--help").padEnd(34)} builder roots
${ownCommand("rebuild", "--help").padEnd(34)} build a published image again, and compare it

  --config FILE   the configuration, a JSON file with the keys below
  --help

KILN_AGENT_LOG=json writes the log as one JSON object per line.

Keys, and the environment variables that override them:
${configKeys().map(keyHelp).join("")}`;
const options = { config: { type: "string" }, help: { type: "boolean", short: "h" } } as const;

const logFormat = process.env["KILN_AGENT_LOG"] === "json" ? "json" : "text";
const log = openLog((line) => process.stderr.write(`${line}\n`), logFormat);

async function main(): Promise<number> {
  // Other users read what this user writes: gpgv, QEMU, apt, and the users of an image. Secret files set their own
  // mode.
  process.umask(0o022);
  const stopping = stopOnSignal(log);
  try {
    const [command, ...rest] = process.argv.slice(2);
    if (command === "root") {
      await rootCommand(rest, (line) => process.stdout.write(`${line}\n`), stopping);
      return 0;
    }
    if (command === "rebuild") return await rebuildCommand(rest, stopping);
    const { values } = orRefuse(() => parseArgs({ options }), usage);
    if (values.help) {
      process.stdout.write(usage);
      return 0;
    }
    const config = await readConfig(values.config, process.env);
    await serve(config, stopping);
    log("agent stopped");
    return 0;
  } catch (error) {
    if (stopping.aborted) return 0;
    const isOperatorError = [ConfigRefused, UsageRefused, RootFault].some((kind) => error instanceof kind);
    const words = isOperatorError && error instanceof Error ? error.message : sentenceOf(error);
    process.stderr.write(`${words}\n`);
    return isOperatorError ? 2 : 1;
  }
}

async function serve(config: Config, signal: AbortSignal): Promise<void> {
  const draining = drainOnSignal(log);
  await openStateDir(config.stateDir);
  await lockStateDir(config.stateDir);
  await killOrphans(config.stateDir);
  const left = await clearWorkDirs(config.stateDir, log);
  if (left > 0) log("cleaned up after a killed agent", { workDirs: left });

  const examine = async () => (await getCapabilities(config)).capabilities;
  const capabilities = await examine();
  if (config.isolation === "none") log("builds run bare on this host, as root: isolation is none");
  const { enclosed, openness } = await getSandbox();
  if (!enclosed)
    log(`testdrives run without a sandbox: run ${ownCommand("doctor")} to see how to fix it`, { reason: openness });
  const api = connectWorker(config, await incarnationIn(config.stateDir));
  const answer = await sayHello(api, { capabilities, signal, draining });
  if (!answer) return; // drained before it had any work
  const { name, endedLeases, elsewhere = 0, protocol } = answer;
  if (elsewhere > 0) log("another host uses the token of this agent: give each its own", { leases: elsewhere });
  if (!isServed(protocol)) {
    throw new Error(
      "the service is more than one version older than this agent: upgrade it first, with npm run deploy",
    );
  }
  log("agent ready", {
    name,
    endedLeases,
    imageTypes: capabilities.imageTypes.join(","),
    testdrives: capabilities.testdrives,
  });

  const cache = await openImageCache(join(config.stateDir, "cache"), config.cacheGb * 1e9);
  const packageCache = await openConfiguredPackageCache(config, log);
  const prepared = await openPrepared(config);
  await runAgent(
    { config, capabilities, examine, api, queue: connectQueue(config), cache, packageCache, prepared, log, draining },
    signal,
  );
}

interface Greeting {
  capabilities: Capabilities;
  signal: AbortSignal;
  draining: AbortSignal;
}

/** Retries forever, because an agent may start before its Worker. Undefined if the agent is drained before an answer. */
async function sayHello(
  api: WorkerApi,
  { capabilities, signal, draining }: Greeting,
): Promise<HelloAnswer | undefined> {
  const ending = AbortSignal.any([signal, draining]);
  const hello = () =>
    api.hello(capabilities, ending).catch((error: unknown) => {
      if (isWorthRetry(error)) log("the Worker does not answer", { reason: sentenceOf(error) });
      throw error;
    });
  try {
    return await withRetry(hello, { attempts: Infinity, baseDelayMs: 1_000, maxDelayMs: 15_000, signal: ending });
  } catch (error) {
    if (draining.aborted) return undefined;
    throw error;
  }
}

/** SIGUSR2: takes no new work, and exits when the running work has ended. SIGUSR1 belongs to Node's inspector. */
function drainOnSignal(log: Log): AbortSignal {
  const draining = new AbortController();
  process.on("SIGUSR2", () => {
    if (!draining.signal.aborted) log("draining: taking no new work");
    draining.abort();
  });
  return draining.signal;
}

/** The first signal stops the agent cleanly, the second immediately. */
function stopOnSignal(log: Log): AbortSignal {
  const stopping = new AbortController();
  let stoppedAt = 0;
  const onSignal = (name: NodeJS.Signals) => {
    if (stopping.signal.aborted && Date.now() - stoppedAt > sameSignalMs) process.exit(1);
    if (stopping.signal.aborted) return;
    stoppedAt = Date.now();
    log("stopping", { signal: name });
    stopping.abort();
    setTimeout(() => process.exit(1), stopWithinMs).unref();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return stopping.signal;
}

process.exit(await main());
