import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The QEMU of a session, found by its working directory. In a sandbox its ancestors work there too. */
export function findQemu(path: string): number | undefined {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => isQemuIn(pid, path));
}

export function getQemu(path: string): number {
  const pid = findQemu(path);
  if (pid === undefined) throw new Error(`no QEMU works in ${path}`);
  return pid;
}

function isQemuIn(pid: number, path: string): boolean {
  try {
    return (
      readlinkSync(`/proc/${pid}/cwd`) === path &&
      readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("qemu-system")
    );
  } catch {
    return false;
  }
}
