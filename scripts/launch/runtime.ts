import { setTimeout as sleep } from "node:timers/promises";
import { Log, LogLevel, Miniflare, type MiniflareOptions } from "miniflare";
import { pauseAfter } from "./back-off.ts";
import { warn } from "./progress.ts";

const checkEveryMs = 500;
const maxPauseMs = 30_000;

export type Runtime = { miniflare: Miniflare; stop(): Promise<void> };
type RuntimeLog = { path: string; append(line: string): void };

/** Starts miniflare, whose child workerd runs the Workers. Restarts workerd whenever it ends. */
export async function startRuntime(
  options: MiniflareOptions,
  { log, temporaryFolder }: { log: RuntimeLog; temporaryFolder: string },
): Promise<Runtime> {
  const given: MiniflareOptions = {
    ...options,
    log: new FileLog(log.append),
    unsafeHandleRuntimeRestart: () => warn("The service (workerd) ended unexpectedly. It is running again."),
  };
  const miniflare = keepingSignals(() => withTemporaryFolder(temporaryFolder, () => new Miniflare(given)));
  await miniflare.ready;
  const stopping = new AbortController();
  const keeper = keepRunning(miniflare, given, { log, signal: stopping.signal });
  return {
    miniflare,
    stop: async () => {
      stopping.abort();
      await miniflare.dispose();
      await keeper;
    },
  };
}

/** miniflare restarts workerd only once and gives up if that fails. This retries until workerd runs. */
async function keepRunning(miniflare: Miniflare, given: MiniflareOptions, { log, signal }: Keeping): Promise<void> {
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {}); // a stop aborts it, and ends the loop
  let failures = 0;
  while (!signal.aborted) {
    const problem = await problemOf(miniflare);
    if (signal.aborted) return;
    if (problem === undefined) {
      if (failures > 0) warn("The service is running again.");
      failures = 0;
      await pause(checkEveryMs);
      continue;
    }
    const pauseMs = pauseAfter(++failures, maxPauseMs);
    log.append(`error ${problem}`);
    warn(`The service is down: workerd cannot start. Retrying in ${pauseMs / 1_000} s. See ${log.path}.`);
    await pause(pauseMs);
    if (!signal.aborted) await miniflare.setOptions(given).catch(() => {}); // problemOf reports it
  }
}

type Keeping = { log: RuntimeLog; signal: AbortSignal };

/** The reason why workerd does not run. Undefined if it runs. */
async function problemOf(miniflare: Miniflare): Promise<string | undefined> {
  try {
    await miniflare.ready;
    return undefined;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    return `${String(error)}${cause === undefined ? "" : ` ${String(cause)}`}`;
  }
}

/** Writes miniflare's own messages to the log file. The terminal gets only our own lines. */
class FileLog extends Log {
  readonly #append: (line: string) => void;
  constructor(append: (line: string) => void) {
    super(LogLevel.WARN);
    this.#append = append;
  }
  protected override log(message: string): void {
    this.#append(message);
  }
}

/** miniflare chooses its folder of temporary files in its constructor, and has no option for it. */
function withTemporaryFolder<T>(folder: string, make: () => T): T {
  const { TMPDIR: before } = process.env;
  process.env["TMPDIR"] = folder;
  try {
    return make();
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}

/**
 * Removes miniflare's signal listeners, which would end this process at the first signal instead of stopping in order.
 */
export function keepingSignals<T>(make: () => T): T {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const ours = new Set(signals.flatMap((signal) => process.listeners(signal)));
  const made = make();
  for (const signal of signals) {
    for (const listener of process.listeners(signal)) if (!ours.has(listener)) process.off(signal, listener);
  }
  return made;
}
