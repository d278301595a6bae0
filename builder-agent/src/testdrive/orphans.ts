import { readdir, readFile, readlink, rm } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { modifiedDir } from "../modified/ended-disks.ts";
import { qemuProgram } from "./walls.ts";
import { sessionsDir } from "./session-dir.ts";

/**
 * Ends the QEMU processes that a killed agent left behind and removes their directories. A QEMU of ours works in its
 * session's directory, which unlike a file with its process id is true from its first moment to its last.
 */
export async function killOrphans(stateDir: string): Promise<void> {
  const dir = sessionsDir(stateDir);
  const orphans = await listQemus(dir);
  for (const pid of orphans) kill(pid);
  await Promise.all(orphans.map(untilGone));
  await rm(dir, { recursive: true, force: true });
  await rm(modifiedDir(stateDir), { recursive: true, force: true });
}

async function listQemus(dir: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => ((await isQemuBelow(pid, dir)) ? [pid] : [])));
  return found.flat();
}

async function isQemuBelow(pid: number, dir: string): Promise<boolean> {
  // A removed directory's name ends in " (deleted)": still below.
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => "");
  if (!cwd.startsWith(`${dir}/`)) return false;
  const [program = ""] = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
  return basename(program) === qemuProgram;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone in the meantime.
  }
}

/** So that its VNC port is free when the first new session wants one. A killed process needs at most some 100 ms. */
async function untilGone(pid: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < 5_000; waitedMs += 20) {
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
    if (cwd === undefined) return;
    await sleep(20);
  }
}
