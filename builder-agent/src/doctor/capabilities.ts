import { mkdir } from "node:fs/promises";
import type { Config } from "../config.ts";
import { Arch, imageTypes, type Capabilities, type ImageType } from "../contract.ts";
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
    ...packageTypesOf(report),
    ...noLvmOf(report),
    ...noEfiOf(report),
    isolation,
    testdrives: isPossible("testdrives", report),
    builder: kiwi ?? "none",
  };
}

const maxLackingLength = 300;

function packageTypesOf(report: Check[]): Pick<Capabilities, "packageTypes" | "noDeb"> {
  const noDeb = lackingFor(["deb"], report);
  return noDeb === "" ? { packageTypes: ["rpm", "deb"] } : { packageTypes: ["rpm"], noDeb };
}

function noLvmOf(report: Check[]): Pick<Capabilities, "noLvm"> {
  const names = lackingFor(["LVM disks"], report);
  return names === "" ? {} : { noLvm: names };
}

function noEfiOf(report: Check[]): Pick<Capabilities, "noEfi"> {
  const lacks = imageTypes.map((type) => [type, lackingFor(efiOf(type), report)] as const);
  const told = lacks.filter(([, names]) => names !== "");
  return told.length === 0 ? {} : { noEfi: Object.fromEntries(told) };
}

/** What an image of a type needs to boot by UEFI: KIWI mounts the partition of a disk, and fills that of a medium unmounted. */
function efiOf(type: ImageType): Ability[] {
  if (type === "net") return [];
  if (type === "iso") return ["UEFI media"];
  return type === "oemiso" ? ["UEFI disks", "UEFI media"] : ["UEFI disks"];
}

/** Extras of images. A missing one only narrows what a host can do. Empty: nothing is missing. */
function lackingFor(extras: Ability[], report: Check[]): string {
  const checks = report.filter(({ state, disables }) => state !== "ok" && extras.some((one) => disables.includes(one)));
  return checks
    .map(({ name }) => name)
    .join(", ")
    .slice(0, maxLackingLength);
}

/** What the Worker tells users whose build no agent takes. */
function lackingOf(report: Check[]): Capabilities["lacking"] {
  const lacks = [...imageTypes, "i586" as const].map((wanted) => {
    const names = obstaclesTo(wanted, report).map(({ name }) => name);
    return [wanted, names.join(", ").slice(0, maxLackingLength)] as const;
  });
  return Object.fromEntries(lacks.filter(([, names]) => names !== ""));
}
