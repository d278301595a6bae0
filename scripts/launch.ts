/** Runs the whole service on one machine. scripts/start.mjs starts this with Node 24. */
import { launch } from "./launch/launch.ts";
import { Complaint } from "./launch/complaint.ts";
import { descendants, signalAll } from "./launch/process-tree.ts";
import { parseOptions, usage } from "./launch/options.ts";

/**
 * Ctrl-C reaches the process group, and npm and node24.mjs also forward it. A signal within this time is a repetition.
 */
const repetitionMs = 1_000;

const stops: (() => void | Promise<void>)[] = [];
const abort = new AbortController();
let signalledAt: number | undefined;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    if (signalledAt !== undefined && Date.now() - signalledAt > repetitionMs) killAll();
    if (signalledAt !== undefined) return;
    signalledAt = Date.now();
    console.log("\nStopping …");
    abort.abort();
    void stopAll();
  });
}
// A closed terminal or pipe must not prevent an orderly stop.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {});

let started = Promise.resolve();
let stopping: Promise<void> | undefined;
try {
  const options = parseOptions(process.argv.slice(2), process.env);
  if (options === "help") console.log(usage);
  else await (started = launch(options, stops, abort.signal));
} catch (error) {
  if (signalledAt === undefined) {
    if (error instanceof Complaint) console.error(`\nkiln: ${error.message}`);
    else console.error("\nkiln: internal error of the launcher:", error);
    process.exitCode = 1;
    await stopAll();
  }
}

/** For the second Ctrl-C: kills every child process and exits. */
function killAll(): never {
  signalAll(descendants(process.pid), "SIGKILL");
  process.exit(1);
}

function stopAll(): Promise<void> {
  return (stopping ??= stopInOrder());
}

/** Waits for the start to end, then stops everything in reverse order. */
async function stopInOrder(): Promise<void> {
  await started.catch(() => {});
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) {
    try {
      await stop();
    } catch (error) {
      console.error("kiln: while stopping:", error);
      process.exitCode = 1;
    }
  }
  process.exit();
}
