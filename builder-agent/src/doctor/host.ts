import { readFile } from "node:fs/promises";
import type { Config } from "../config.ts";
import { fileSystems } from "../contract.ts";
import { freeBytes } from "../disk-room.ts";
import { succeeds } from "../process.ts";
import { firstVncPort } from "../testdrive/vnc-port.ts";
import { answerLimitMs, degraded, fine, missing, type Ability, type Check } from "./check.ts";

const gib = 1024 ** 3;
const comfortableDiskBytes = 20 * gib;
const leastMemoryBytes = 0.75 * gib;
const comfortableMemoryBytes = 2 * gib;

export function checkRoot(uid = process.getuid?.()): Check {
  return uid === 0 ? fine("root", "yes") : missing("root", `user ${uid}`, ["builds"], "run as root (sudo)");
}

export function checkIsolation({ isolation }: Pick<Config, "isolation">): Check {
  return isolation === "vm"
    ? fine("isolation", "vm: each build runs in its own guest")
    : fine("isolation", "none: builds run bare on this host, by configuration");
}

/** Too little space is degraded, not missing, because the agent checks again before each build. */
export async function checkDisk({ stateDir, minFreeGb }: Pick<Config, "stateDir" | "minFreeGb">): Promise<Check> {
  const free = await freeBytes(stateDir);
  const name = "free disk";
  const detail = `${(free / gib).toFixed(1)} GiB`;
  if (free < minFreeGb * 1e9)
    return degraded(name, `${detail}: builds wait`, [], `free ${minFreeGb} GB, or lower minFreeGb`);
  if (free >= comfortableDiskBytes) return fine(name, detail);
  return degraded(name, detail, [], `make it ${comfortableDiskBytes / gib} GiB or more`);
}

export async function checkMemory(): Promise<Check> {
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(await readFile("/proc/meminfo", "utf8"))?.[1] ?? "0";
  const bounds = { least: leastMemoryBytes, comfortable: comfortableMemoryBytes };
  return checkAmount("free memory", Number(kib) * 1024, bounds);
}

export function checkAmount(
  name: string,
  bytes: number,
  { least, comfortable }: { least: number; comfortable: number },
) {
  const detail = `${(bytes / gib).toFixed(1)} GiB`;
  if (bytes >= comfortable) return fine(name, detail);
  const fix = `make it ${comfortable / gib} GiB or more`;
  return bytes >= least ? degraded(name, detail, [], fix) : missing(name, detail, ["builds", "testdrives"], fix);
}

/** LVM needs the device mapper; media and plain disks do not. */
export async function checkKernel(): Promise<Check[]> {
  const filesystems = await readFile("/proc/filesystems", "utf8");
  const misc = await readFile("/proc/misc", "utf8").catch(() => "");
  return await Promise.all([
    checkModule("iso9660", { isBuiltIn: /\tiso9660$/m.test(filesystems), disables: [] }),
    ...fileSystems.map((name) => {
      const isBuiltIn = new RegExp(`\\t${name}$`, "m").test(filesystems);
      return checkModule(name, { isBuiltIn, disables: [`${name} disks`] });
    }),
    checkModule("dm_mod", { isBuiltIn: / device-mapper$/m.test(misc), disables: ["LVM disks"] }),
  ]);
}

async function checkModule(
  module: string,
  { isBuiltIn, disables }: { isBuiltIn: boolean; disables: Ability[] },
): Promise<Check> {
  const name = `kernel: ${module}`;
  if (isBuiltIn) return fine(name, "there");
  if (await succeeds("modprobe", ["--dry-run", module], AbortSignal.timeout(answerLimitMs)))
    return fine(name, "loads when needed");
  const detail = "not in this kernel; plain disks and media do not need it";
  return degraded(name, detail, disables, "use a kernel that has it");
}

export function checkVnc({ vnc }: Pick<Config, "vnc">): Check {
  const name = "VNC address";
  if (vnc === null) return fine(name, "none: testdrives can be viewed only through the service");
  const [from, to] = vnc.ports;
  if (to < firstVncPort)
    return degraded(name, `QEMU needs ports from ${firstVncPort} on`, [], `set vnc.ports above ${firstVncPort}`);
  return fine(name, `${vnc.host}, ports ${Math.max(from, firstVncPort)} to ${to}`);
}
