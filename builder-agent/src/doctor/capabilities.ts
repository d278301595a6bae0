import { mkdir } from "node:fs/promises";
import type { Config } from "../config.ts";
import type { Capabilities } from "../contract.ts";
import { isPossible, type Check } from "./check.ts";
import { checkDisk, checkIsolation, checkKernel, checkMemory, checkRoot, checkVnc } from "./host.ts";
import { checkEnclosure, checkKiwiVersion, checkRpmMacros, findKiwiVersion } from "./kiwi.ts";
import { checkLoopDevice, checkStalePartitions } from "./loop-device.ts";
import { checkMachine } from "./machine.ts";
import { checkTools } from "./packages.ts";

export type DoctorConfig = Pick<Config, "stateDir" | "isolation" | "accel" | "vnc">;

/**
 * Examines this host: what it can do, in the Worker's words, and every finding in the operator's. Quick enough for each
 * start of the agent; the one slow question, whether KVM boots a kernel, is asked once per kernel, QEMU and processor.
 */
export async function findCapabilities(config: DoctorConfig): Promise<{ capabilities: Capabilities; report: Check[] }> {
  await mkdir(config.stateDir, { recursive: true, mode: 0o700 });
  const kiwi = await findKiwiVersion();
  const report = (
    await Promise.all([
      [checkRoot(), checkIsolation(config), checkKiwiVersion(kiwi)],
      checkTools(),
      Promise.all([checkRpmMacros(config.stateDir), checkEnclosure(), checkLoopDevice(config.stateDir)]),
      Promise.all([checkStalePartitions(), checkDisk(config.stateDir), checkMemory()]),
      checkKernel(),
      checkMachine(config),
      [checkVnc(config)],
    ])
  ).flat();
  return { capabilities: capabilitiesOf(report, config, kiwi), report };
}

function capabilitiesOf(report: Check[], { isolation }: DoctorConfig, kiwi: string | undefined): Capabilities {
  return {
    arches: ["x86_64"],
    imageTypes: (["oem", "iso"] as const).filter((type) => isPossible(type, report)),
    isolation,
    testdrives: isPossible("testdrives", report),
    builder: kiwi ?? "none",
  };
}
