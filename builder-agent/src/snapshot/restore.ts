import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { hostKey } from "../host-key.ts";
import { machineArguments, type Machine } from "../testdrive/machine.ts";
import { startQemu, type Qemu, type QemuStart } from "../testdrive/qemu.ts";
import type { SessionDir } from "../testdrive/session-dir.ts";
import { openSnapshot } from "./files.ts";

/** When a machine was saved: at its login prompt, or when its checks had ended. */
type SnapshotKind = "booted" | "checked";

/**
 * Names the snapshots from which this machine can start: those of a machine with the same arguments, which include the
 * path of the image, saved by the same QEMU on the same kernel and processor.
 */
export async function snapshotKey(machine: Machine, kind: SnapshotKind): Promise<string> {
  const words = [kind, await hostKey(), ...machineArguments(machine)];
  return createHash("sha256").update(words.join("\n")).digest("hex").slice(0, 32);
}

const Status = z.object({ status: z.string() });
/** Loading a state of some hundred megabytes takes a tenth of a second. */
const loadTimeoutMs = 20_000;

/** Continues the machine of a snapshot, on a copy of its disk. If it rejects, no QEMU is left running. */
export async function restore(
  snapshot: string,
  { machine, dir, start }: { machine: Machine; dir: SessionDir; start: QemuStart },
): Promise<Qemu> {
  await using saved = await openSnapshot(snapshot, dir);
  const qemu = await startQemu(machine, dir, { ...start, saved });
  try {
    await untilLoaded(qemu, AbortSignal.any([start.signal, AbortSignal.timeout(loadTimeoutMs)]));
    await qemu.execute("cont");
    return qemu;
  } catch (error) {
    await qemu[Symbol.asyncDispose]();
    throw error;
  }
}

/** The machine was saved while paused, so it is paused when it is loaded. */
async function untilLoaded(qemu: Qemu, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { status } = Status.parse(await qemu.execute("query-status"));
    if (status === "paused") return;
    if (status !== "inmigrate") throw new Error(`QEMU did not load the saved state: it is "${status}"`);
    await sleep(5, undefined, { signal });
  }
}
