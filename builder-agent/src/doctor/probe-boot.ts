import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { accelArguments } from "../testdrive/machine.ts";
import type { Accel } from "../sandbox.ts";
import { qemuProgram } from "../testdrive/session-sandbox.ts";
import { probeKernel, probeOutput } from "./probe-kernel.ts";
import { scratchDir } from "./doctor-dir.ts";

interface ProbeLimits {
  /** Processor time, which does not depend on other programs. */
  processorSeconds: number;
  /** Elapsed time, for a machine that only waits. */
  seconds: number;
}

/**
 * A kernel that boots needs less than 0.2 s of a processor. Where KVM does not work, QEMU often uses a whole processor
 * until it is killed.
 */
const usualLimits: Record<Accel, ProbeLimits> = {
  kvm: { processorSeconds: 2, seconds: 20 },
  tcg: { processorSeconds: 10, seconds: 60 },
};

export type ProbeResult = { booted: true; ms: number } | { booted: false; why: string };

/** Boots the probe kernel with that accelerator. It proves nothing if only QEMU and its firmware start. */
export async function bootProbe(
  accel: Accel,
  stateDir: string,
  { processorSeconds, seconds } = usualLimits[accel],
): Promise<ProbeResult> {
  await using dir = await scratchDir(stateDir);
  const sector = `${dir.path}/probe.img`;
  await writeFile(sector, probeKernel());
  const medium = { driver: "raw", "node-name": "probe", "read-only": true, file: { driver: "file", filename: sector } };
  const startedAt = performance.now();
  const child = spawn(
    "prlimit",
    [
      [`--cpu=${processorSeconds}`, "--", qemuProgram],
      ["-nodefaults", "-no-user-config", "-machine", "pc", "-display", "none", "-nic", "none", "-m", "64M"],
      accelArguments(accel),
      ["-blockdev", JSON.stringify(medium), "-device", "floppy,drive=probe", "-boot", "order=a,menu=off"],
      ["-chardev", "stdio,id=serial,signal=off", "-serial", "chardev:serial"],
    ].flat(),
    { cwd: dir.path, stdio: ["ignore", "pipe", "pipe"], timeout: seconds * 1000, killSignal: "SIGKILL" },
  );
  let said = "";
  let complaint = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString("latin1");
    if (said.includes(probeOutput)) child.kill("SIGKILL");
  });
  child.stderr.on("data", (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-400)));
  const code = await new Promise<number | string>((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, signal) => resolve(code ?? signal ?? "nothing"));
  });
  const ms = Math.round(performance.now() - startedAt);
  if (said.includes(probeOutput)) return { booted: true, ms };
  if (code === "SIGKILL") return { booted: false, why: `the probe kernel says "${said.trim()}" after ${ms / 1000} s` };
  return { booted: false, why: `QEMU ended with ${code}: ${complaint.trim().split("\n").at(-1) ?? ""}` };
}
