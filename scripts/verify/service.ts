import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Complaint } from "../launch/complaint.ts";
import { freePort } from "./free-port.ts";
import { readReady, readyFile, type Ready } from "../launch/ready-file.ts";
import { projectRoot } from "../launch/project.ts";

/** The first start also builds Tiny Linux, and installs missing packages on the host. */
const startSeconds = 900;
const lookEveryMs = 200;

export type VerifiedService = AsyncDisposable & { ready: Ready };

/** Uses the service that runs in the state directory, or starts one and stops it at the end. */
export async function openService(state: string, options: readonly string[]): Promise<VerifiedService> {
  const running = existsSync(readyFile(state)) ? readReady(state) : undefined;
  if (running) return { ready: running, [Symbol.asyncDispose]: async () => {} };
  const port = options.includes("--port") ? [] : ["--port", String(await freePort())];
  const args = ["scripts/start.mjs", "--state", state, ...port, ...options];
  const child = spawn(process.execPath, args, { cwd: projectRoot, stdio: ["ignore", "inherit", "inherit"] });
  const ended = new Promise<void>((resolve) => child.on("error", () => resolve()).on("close", () => resolve()));
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  const until = Date.now() + startSeconds * 1000;
  while (Date.now() < until && child.exitCode === null && child.signalCode === null) {
    const ready = readReady(state);
    if (ready) return { ready, [Symbol.asyncDispose]: stop };
    await sleep(lookEveryMs);
  }
  await stop();
  throw new Complaint("The service did not start.");
}
