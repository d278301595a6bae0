import { readFile, readlink, rm } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { modifiedDir } from "../modified/ended-disks.ts";
import { killProcess, processesWhere } from "../process.ts";
import { qemuPrograms } from "./session-sandbox.ts";
import { sessionsDir } from "./session-dir.ts";
import { tpmProgram } from "./tpm.ts";

/**
 * Kills the processes that the sessions of a killed agent left behind, and removes their directories. It recognises
 * them by their working directory, which is always right, unlike a file with the process id.
 */
export async function killOrphans(stateDir: string): Promise<void> {
  const dir = sessionsDir(stateDir);
  const orphans = await processesBelow(dir, [...qemus, tpmProgram]);
  for (const pid of orphans) killProcess(pid);
  await Promise.all(orphans.map(untilGone));
  await rm(dir, { recursive: true, force: true });
  await rm(modifiedDir(stateDir), { recursive: true, force: true });
}

/** The QEMU processes that work in this directory or below. */
export const qemusBelow = (dir: string): Promise<number[]> => processesBelow(dir, qemus);

const qemus = Object.values(qemuPrograms);

const processesBelow = (dir: string, programs: readonly string[]): Promise<number[]> =>
  processesWhere((pid) => isBelow(pid, dir, programs));

async function isBelow(pid: number, dir: string, programs: readonly string[]): Promise<boolean> {
  // If the directory was deleted, the link ends with " (deleted)".
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => "");
  if (!`${cwd}/`.startsWith(`${dir}/`)) return false;
  const [program = ""] = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
  return programs.includes(basename(program));
}

/**
 * Waits until the process is gone, because its VNC port must be free for the first new session. A killed process needs
 * about 100 ms to end.
 */
async function untilGone(pid: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < 5_000; waitedMs += 20) {
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
    if (cwd === undefined) return;
    await sleep(20);
  }
}
