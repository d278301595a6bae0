import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { Incarnation } from "./contract.ts";

/** When this process started, on the clock that runs since the host's start: another process of this host has another time. */
const start = Number(process.hrtime.bigint() / 1000n) - Math.round(process.uptime() * 1e6);

/**
 * This process of the agent, for the service. The kernel's id of this boot tells hosts apart, also those that were cloned with their
 * configuration; the state directory tells apart agents on one host, of which each locks its own (lock.ts).
 */
export async function incarnationIn(stateDir: string): Promise<Incarnation> {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
  const { dev, ino } = await stat(stateDir, { bigint: true });
  const host = createHash("sha256").update(`${boot.trim()} ${dev} ${ino}`).digest("hex").slice(0, 32);
  return { host, start: Math.max(0, start) };
}
