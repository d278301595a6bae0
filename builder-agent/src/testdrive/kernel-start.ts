import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Qmp } from "./qmp.ts";

/*
 * On a busy host, an emulated timer may be late. In its first moments, Linux then considers it broken and panics
 * (check_timer in arch/x86/kernel/apic/io_apic.c: "IO-APIC + timer doesn't work"). With "quiet", it prints nothing and
 * repeats one loop forever, before it has started the clock of its processor. If the same machine is started again, it
 * boots.
 */

export interface KernelStart {
  execute: Qmp["execute"];
  /** The processor time that the machine has used, in milliseconds. Undefined if it has ended. */
  usedMs: () => Promise<number | undefined>;
  /** Called after each restart. */
  onRestart: () => void;
  signal: AbortSignal;
  limits?: Partial<typeof usualLimits>;
}

/** `stuckMs` is processor time of the machine. An emulated kernel starts its clock within 2 s of processor time. */
const usualLimits = { stuckMs: 5_000, everyMs: 1_000, restarts: 3 };

/**
 * Restarts a machine whose kernel is stuck before its clock runs. Settles when the clock runs, after the last restart,
 * or when the machine ends. It does not touch a machine that waits in its firmware or in a boot loader.
 */
export async function watchKernelStart(start: KernelStart): Promise<void> {
  const { execute, usedMs, onRestart, signal } = start;
  const { stuckMs, everyMs, restarts } = { ...usualLimits, ...start.limits };
  let since: { loop: string; usedMs: number } | undefined;
  for (let restarted = 0; restarted < restarts;) {
    await sleep(everyMs, undefined, { signal, ref: false });
    const look = kernelLook(await ask(execute, "info registers"), await ask(execute, "info lapic"));
    const used = await usedMs();
    if (look === "started" || used === undefined) return;
    if (look === "not yet") since = undefined;
    else if (since?.loop !== look.loop) since = { ...look, usedMs: used };
    else if (used - since.usedMs >= stuckMs) {
      await execute("system_reset");
      onRestart();
      restarted += 1;
      since = undefined;
    }
  }
}

const ask = async (execute: Qmp["execute"], command: string): Promise<string> =>
  z.string().parse(await execute("human-monitor-command", { "command-line": command }));

const maskedTimer = 2 ** 16;
const pageDigits = 3;

/**
 * The code that the processor runs, according to QEMU's human monitor: the firmware or a boot loader, a kernel whose
 * clock has started, or a kernel that has no clock yet, with the page of its code. Exported for its test.
 */
export function kernelLook(registers: string, lapic: string): "not yet" | "started" | { loop: string } {
  const [, address = "", halted] = /^[ER]IP=([0-9a-f]+) .*\bHLT=(\d)/m.exec(registers) ?? [];
  const [, timer] = /^LVTT\s+(0x[0-9a-f]+)/m.exec(lapic) ?? [];
  if (!isInKernel(address, registers)) return "not yet";
  // A kernel halts only if its clock will wake it up. Without the entry there is no such clock.
  if (halted !== "0" || timer === undefined || (Number(timer) & maskedTimer) === 0) return "started";
  return { loop: address.slice(0, -pageDigits) };
}

/** Kernels run in the upper half of the addresses. Firmware reaches it too, but without page tables. */
function isInKernel(address: string, registers: string): boolean {
  const [, cr0 = "0"] = /^CR0=([0-9a-f]+)/m.exec(registers) ?? [];
  const hasPages = (parseInt(cr0, 16) & 0x8000_0000) !== 0;
  return hasPages && /^(?:ffff[89a-f]\w{11}|[89a-f]\w{7})$/.test(address);
}
