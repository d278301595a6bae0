import type { Config } from "../config.ts";
import { judgeAccel } from "./acceleration.ts";
import { degraded, fine, missing, type Check } from "./check.ts";
import { bootProbe } from "./probe-boot.ts";

/** Hardware virtualisation, and whether QEMU boots a kernel at all. */
export async function checkMachine(config: Pick<Config, "accel" | "stateDir">): Promise<Check[]> {
  const { accel, detail } = await judgeAccel(config);
  const acceleration =
    accel === "kvm"
      ? fine("hardware virtualisation", detail)
      : degraded("hardware virtualisation", `${detail}; testdrives are emulated`, [], "use a host with VT-x or AMD-V");
  return [acceleration, await checkBoot(accel, config.stateDir)];
}

async function checkBoot(accel: "kvm" | "tcg", stateDir: string): Promise<Check> {
  const name = "virtual machine";
  const probe = await bootProbe(accel, stateDir);
  return probe.booted
    ? fine(name, `a probe kernel boots with ${accel} in ${probe.ms} ms`)
    : missing(name, probe.why, ["testdrives"], 'install QEMU, or set accel to "tcg"');
}
