import { mkdir } from "node:fs/promises";
import type { HostConfig } from "../found-config.ts";
import { hostTools } from "../roots/of-build.ts";
import { Arch, imageTypes, type Capabilities, type ImageType } from "../contract.ts";
import { isPossible, missing, obstaclesTo, type Ability, type Check } from "./check.ts";
import { checkGuest } from "./guest.ts";
import { checkDisk, checkIsolation, checkKernel, checkMemory, checkRoot, checkVnc } from "./host.ts";
import { checkEnclosure, checkKiwiVersion, checkRpmMacros, findKiwiVersion } from "./kiwi.ts";
import { checkLoopDevice, checkStalePartitions } from "./loop-device.ts";
import { checkMachine } from "./machine.ts";
import { checkTools } from "./packages.ts";
import { check32BitPrograms } from "./programs-32.ts";
import { abilitiesIn, checkRoots, summaryOf, type CheckedRoot } from "./roots.ts";
import { checkVolumes } from "./volumes.ts";

export type DoctorConfig = HostConfig;

/**
 * Examines this host: what it can do, in the Worker's words, and every finding in the operator's. Quick enough for each
 * start of the agent; the slow questions, whether KVM and guests boot a kernel, are asked once per kernel, QEMU and processor.
 */
export async function findCapabilities(config: DoctorConfig): Promise<{ capabilities: Capabilities; report: Check[] }> {
  await mkdir(config.stateDir, { recursive: true, mode: 0o700 });
  const isBare = config.isolation === "none";
  const wherever = Promise.all([
    [checkRoot(), checkIsolation(config)],
    isBare ? checkBareHost(config) : [],
    Promise.all([checkDisk(config), checkMemory()]),
    checkMachine(config),
    [checkVnc(config)],
  ]);
  const host = config.root === hostTools ? hostPlace(config) : undefined;
  const [parts, roots, hostsOwn] = await Promise.all([wherever, checkRoots(config), host]);
  const common = parts.flat();
  const abilities = roots.slice(0, mostRoots).map((one) => abilitiesIn(one, common));
  const place = hostsOwn ?? rootPlace(config.root, roots);
  const report = [...common, ...place.report, ...roots.map(summaryOf)];
  const more = abilities.length === 0 ? {} : { roots: abilities };
  return { capabilities: { ...capabilitiesOf(report, config, place.kiwi), ...more }, report };
}

/** The Worker accepts so many. */
const mostRoots = 20;

/** Where builds run whose base system names no builder root. */
interface DefaultPlace {
  kiwi: string | undefined;
  report: Check[];
}

/** With this host's tools, or in a guest that is made of its packages. */
async function hostPlace(config: DoctorConfig): Promise<DefaultPlace> {
  const own = config.isolation === "vm" ? checkGuest(hostGuest(config)) : checkRpmMacros(config.stateDir);
  const [kiwi, tools, others] = await Promise.all([findKiwiVersion(), checkTools(), own]);
  return { kiwi, report: [checkKiwiVersion(kiwi), ...tools, ...[others].flat()] };
}

/** Its system is not a builder root, whatever root the configuration names. */
const hostGuest = ({ accel, stateDir }: DoctorConfig) => ({ accel, stateDir });

function rootPlace(name: string, roots: readonly CheckedRoot[]): DefaultPlace {
  const found = roots.find(({ root }) => root.facts.name === name);
  if (found) return { kiwi: found.root.facts.builder, report: found.report };
  const fix = `npm run agent -- root make ${name}`;
  return { kiwi: undefined, report: [missing(`builder root ${name}`, "the configuration names it", ["builds"], fix)] };
}

/** What KIWI needs of a host's own kernel when it runs there. A guest has another one. */
async function checkBareHost({ stateDir }: DoctorConfig): Promise<Check[]> {
  const volumes = checkVolumes();
  const alone = [checkEnclosure(), checkLoopDevice(stateDir), checkStalePartitions(), volumes];
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
