/** The whole service on one machine; scripts/start.mjs runs this with Node 24. */
import { launch } from "./launch/launch.ts";
import { Complaint } from "./launch/complaint.ts";
import { descendants, signalAll } from "./launch/process-tree.ts";
import { parseOptions, usage } from "./launch/options.ts";

/** Ctrl-C reaches a process group, and npm and the door pass it on once more: what comes so soon is the same wish. */
const sameWishMs = 1_000;

const stops: (() => void | Promise<void>)[] = [];
const abort = new AbortController();
let askedAt: number | undefined;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    if (askedAt !== undefined && Date.now() - askedAt > sameWishMs) stopAtOnce();
    if (askedAt !== undefined) return;
    askedAt = Date.now();
    console.log("\nStopping …");
    abort.abort();
    void stopAll();
  });
}
// A terminal or a pipe that is gone must not keep us from stopping in order.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {});

let started = Promise.resolve();
let stopping: Promise<void> | undefined;
try {
  const options = parseOptions(process.argv.slice(2), process.env);
  if (options === "help") console.log(usage);
  else await (started = launch(options, stops, abort.signal));
} catch (error) {
  if (askedAt === undefined) {
    if (error instanceof Complaint) console.error(`\nkiln: ${error.message}`);
    else console.error("\nkiln: this is a defect of the launcher:", error);
    process.exitCode = 1;
    await stopAll();
  }
}

/** For whoever asks a second time. */
function stopAtOnce(): never {
  signalAll(descendants(process.pid), "SIGKILL");
  process.exit(1);
}

function stopAll(): Promise<void> {
  return (stopping ??= stopInOrder());
}

/** Waits for the start to notice, then stops what there is in the opposite order. */
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
