/** A service without an agent. Its state is kept when it stops, so that it can be restarted with a cold isolate. */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { once } from "node:events";
import { descendants } from "../../scripts/launch/process-tree.ts";
import { readReady, type Ready } from "../../scripts/launch/ready-file.ts";
import { freePort } from "../../test/acceptance/support/service.ts";
import { waitUntil } from "../wait.ts";

const root = new URL("../..", import.meta.url).pathname;

export interface BareService extends AsyncDisposable {
  ready: Ready;
  /** workerd's current and peak memory, in MiB. */
  memoryMib: () => { now: number; most: number };
}

/** @param allowedHost a private address that it may import from */
export async function startBareService(stateDir: string, allowedHost: string): Promise<BareService> {
  const options = ["--state", stateDir, "--port", `${await freePort()}`, "--no-agent", "--allow-host", allowedHost];
  const launcher = spawn(process.execPath, ["scripts/start.mjs", ...options], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [launcher.stdout, launcher.stderr]) stream.on("data", (chunk) => (output += chunk));
  // Also stops the service if the run is interrupted.
  const kill = () => void launcher.kill("SIGTERM");
  process.once("exit", kill);
  const ready = await waitUntil("the service is ready", { seconds: 300, everyMs: 20 }, () => {
    if (launcher.exitCode !== null) throw new Error(`the service ended with ${launcher.exitCode}:\n${output}`);
    return readReady(stateDir);
  });
  return {
    ready,
    memoryMib: () => workerdMemory(launcher),
    [Symbol.asyncDispose]: async () => {
      process.off("exit", kill);
      if (launcher.exitCode !== null) return;
      const ended = once(launcher, "exit");
      launcher.kill("SIGTERM");
      await ended;
    },
  };
}

function workerdMemory({ pid }: ChildProcess): { now: number; most: number } {
  const statuses = (pid === undefined ? [] : descendants(pid)).map(statusOf);
  const workerds = statuses.filter((status) => /^Name:\s+workerd$/m.test(status));
  const sum = (field: string) =>
    workerds.reduce(
      (total, status) => total + Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]),
      0,
    );
  return { now: sum("VmRSS") / 1024, most: sum("VmHWM") / 1024 };
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return ""; // The process has just ended.
  }
}
