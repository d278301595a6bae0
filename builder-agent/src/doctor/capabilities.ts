import { mkdir } from "node:fs/promises";
import type { Config } from "../config.ts";
import { Arch, imageTypes, type Capabilities } from "../contract.ts";
import { isPossible, obstaclesTo, type Ability, type Check } from "./check.ts";
import { checkGuest } from "./guest.ts";
import { checkDisk, checkIsolation, checkKernel, checkMemory, checkRoot, checkVnc } from "./host.ts";
import { checkEnclosure, checkKiwiVersion, checkRpmMacros, findKiwiVersion } from "./kiwi.ts";
import { checkLoopDevice, checkStalePartitions } from "./loop-device.ts";
import { checkMachine } from "./machine.ts";
import { checkTools } from "./packages.ts";
import { check32BitPrograms } from "./programs-32.ts";
import { checkVolumes } from "./volumes.ts";

export type DoctorConfig = Pick<Config, "stateDir" | "isolation" | "accel" | "vnc" | "minFreeGb">;

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
      config.isolation === "vm" ? checkGuest(config) : checkBareHost(config),
      Promise.all([checkDisk(config), checkMemory()]),
      checkMachine(config),
      [checkVnc(config)],
    ])
  ).flat();
  return { capabilities: capabilitiesOf(report, config, kiwi), report };
}

/** What KIWI needs of a host's own kernel when it runs there. A guest has another one. */
async function checkBareHost({ stateDir }: DoctorConfig): Promise<Check[]> {
  const volumes = checkVolumes();
  const alone = [
    checkRpmMacros(stateDir),
    checkEnclosure(),
    checkLoopDevice(stateDir),
    checkStalePartitions(),
    volumes,
  ];
  const [checks, kernel] = await Promise.all([Promise.all([...alone, check32BitPrograms(stateDir)]), checkKernel()]);
  return [...checks, ...kernel];
}

function capabilitiesOf(report: Check[], { isolation }: DoctorConfig, kiwi: string | undefined): Capabilities {
  return {
    arches: Arch.options.filter((arch) => arch === "x86_64" || isPossible(arch, report)),
    imageTypes: imageTypes.filter((type) => isPossible(type, report)),
    lacking: lackingOf(report),
    ...lackingFor("noLvm", "LVM disks", report),
    ...lackingFor("noEfi", "UEFI", report),
    isolation,
    testdrives: isPossible("testdrives", report),
    builder: kiwi ?? "none",
  };
}

const maxLackingLength = 300;

/** Extras of images: what stands in their way only narrows what a host can do. */
function lackingFor(key: "noLvm" | "noEfi", extra: Ability, report: Check[]): Pick<Capabilities, typeof key> {
  const checks = report.filter(({ state, disables }) => state !== "ok" && disables.includes(extra));
  if (checks.length === 0) return {};
  const names = checks.map(({ name }) => name).join(", ");
  return { [key]: names.slice(0, maxLackingLength) };
}

/** What the Worker tells users whose build no agent takes. */
function lackingOf(report: Check[]): Capabilities["lacking"] {
  const lacks = [...imageTypes, "i586" as const].map((wanted) => {
    const names = obstaclesTo(wanted, report).map(({ name }) => name);
    return [wanted, names.join(", ").slice(0, maxLackingLength)] as const;
  });
  return Object.fromEntries(lacks.filter(([, names]) => names !== ""));
}
