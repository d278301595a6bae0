import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { Incarnation } from "./contract.ts";

/** When this process started, in microseconds since the host's start. No two processes of a host have the same time. */
const start = Number(process.hrtime.bigint() / 1000n) - Math.round(process.uptime() * 1e6);

/**
 * Identifies this process of the agent to the service. The kernel's boot id distinguishes hosts, even clones with the
 * same configuration. The state directory distinguishes the agents of one host, because each locks its own (lock.ts).
 */
export async function incarnationIn(stateDir: string): Promise<Incarnation> {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
  const { dev, ino } = await stat(stateDir, { bigint: true });
  const host = createHash("sha256").update(`${boot.trim()} ${dev} ${ino}`).digest("hex").slice(0, 32);
  return { host, start: Math.max(0, start) };
}
