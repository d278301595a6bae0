import { mkdir } from "node:fs/promises";
import type { HostConfig } from "../found-config.ts";
import { hostTools } from "../roots/of-build.ts";
import { arches, fileSystems, imageTypes, productOf, type Arch, type Capabilities } from "../contract.ts";
import { ownCommand } from "../own-command.ts";
import { isPossible, missing, obstaclesTo, type Ability, type Check } from "./check.ts";
import { checkGuest } from "./guest.ts";
import { checkDisk, checkIsolation, checkKernel, checkMemory, checkRoot, checkVnc } from "./host.ts";
import { checkEnclosure, checkKiwiVersion, checkRpmMacros, findKiwiVersion } from "./kiwi.ts";
import { checkLoopDevice, checkStalePartitions } from "./loop-device.ts";
import { checkMachine } from "./machine.ts";
import { checkTools } from "./packages.ts";
import { check32BitPrograms, checkArmPrograms } from "./foreign-programs.ts";
import { abilitiesIn, checkRoots, summaryOf, type CheckedRoot } from "./roots.ts";
import { checkVolumes } from "./volumes.ts";

export type DoctorConfig = HostConfig;

/**
 * Examines this host. Returns its abilities, for the Worker, and all findings, for the operator. It is fast enough for
 * each start of the agent: the slow checks, whether KVM and guests boot a kernel, run once per kernel, QEMU and
 * processor.
 */
export async function getCapabilities(config: DoctorConfig): Promise<{ capabilities: Capabilities; report: Check[] }> {
  await mkdir(config.stateDir, { recursive: true, mode: 0o700 });
  const isBare = config.isolation === "none";
  const wherever = Promise.all([
    [checkRoot(), checkIsolation(config)],
    isBare ? checkBareHost(config) : [],
    Promise.all([checkDisk(config), checkMemory()]),
    checkMachine(config),
    [checkVnc(config)],
  ]);
  const host = config.root === hostTools ? defaultTools(config) : undefined;
  const [parts, roots, hostsOwn] = await Promise.all([wherever, checkRoots(config), host]);
  const common = parts.flat();
  const abilities = roots.slice(0, maxRoots).map((one) => abilitiesIn(one, common));
  const tools = hostsOwn ?? rootTools(config.root, roots);
  const report = [...common, ...tools.report, ...roots.map(summaryOf)];
  const more = abilities.length === 0 ? {} : { roots: abilities };
  return { capabilities: { ...capabilitiesOf(report, config, tools.kiwi), ...more }, report };
}

/** The most that the Worker accepts. */
const maxRoots = 20;

/** The tools of builds whose base system names no builder root. */
interface DefaultTools {
  kiwi: string | undefined;
  report: Check[];
}

/** Builds use this host's tools, or run in a guest made from its packages. */
async function defaultTools(config: DoctorConfig): Promise<DefaultTools> {
  const own = config.isolation === "vm" ? checkGuest(hostGuest(config)) : checkRpmMacros(config.stateDir);
  const [kiwi, tools, others] = await Promise.all([findKiwiVersion(), checkTools(), own]);
  return { kiwi, report: [checkKiwiVersion(kiwi), ...tools, ...[others].flat()] };
}

/** Omits the configured root, because this guest is made from the host's packages. */
const hostGuest = ({ accel, stateDir }: DoctorConfig) => ({ accel, stateDir });

function rootTools(name: string, roots: readonly CheckedRoot[]): DefaultTools {
  const found = roots.find(({ root }) => root.facts.name === name);
  if (found) return { kiwi: found.root.facts.builder, report: found.report };
  const fix = ownCommand("root", `make ${name}`);
  return { kiwi: undefined, report: [missing(`builder root ${name}`, "the configuration names it", ["builds"], fix)] };
}

/** Checks the features of this host's kernel that KIWI needs without a guest. */
async function checkBareHost({ stateDir, emulation }: DoctorConfig): Promise<Check[]> {
  const alone = [checkEnclosure(), checkLoopDevice(stateDir), checkStalePartitions(), checkVolumes()];
  const programs = [
    ...(hostArch === "x86_64" ? [check32BitPrograms(stateDir)] : []),
    ...(emulation === "on" ? [checkArmPrograms(stateDir)] : []),
  ];
  const [checks, kernel] = await Promise.all([Promise.all([...alone, ...programs]), checkKernel()]);
  return [...checks, ...kernel];
}

function capabilitiesOf(report: Check[], config: DoctorConfig, kiwi: string | undefined): Capabilities {
  return {
    arches: archesOf(config).filter((arch) => isPossible(arch, report)),
    imageTypes: imageTypes.filter((type) => isPossible(type, report)),
    lacking: lackingOf(report),
    ...packageTypesOf(report),
    ...noLvmOf(report),
    ...noEfiOf(report),
    ...noFileSystemOf(report),
    isolation: config.isolation,
    testdrives: isPossible("testdrives", report),
    machines: [...pcs, ...(isPossible("arm64 testdrives", report) ? (["aarch64"] as const) : [])],
    rebuilds: true,
    builder: kiwi ?? "none",
  };
}

/** The architecture of this host. */
const hostArch: Arch = process.arch === "arm64" ? "aarch64" : "x86_64";
const pcs = ["x86_64", "i586"] as const satisfies Arch[];

/** The architectures that this host may build for. A guest is a PC, and has no interpreters. */
function archesOf({ isolation, emulation }: DoctorConfig): Arch[] {
  if (isolation === "none" && hostArch === "aarch64") return ["aarch64"];
  return isolation === "none" && emulation === "on" ? arches : [...pcs];
}

const maxLackingLength = 300;

function packageTypesOf(report: Check[]): Pick<Capabilities, "packageTypes" | "noDeb"> {
  const noDeb = lackingFor(["deb"], report);
  return noDeb === "" ? { packageTypes: ["rpm", "deb"] } : { packageTypes: ["rpm"], noDeb };
}

function noLvmOf(report: Check[]): Pick<Capabilities, "noLvm"> {
  const noLvm = lackingFor(["LVM disks"], report);
  return noLvm === "" ? {} : { noLvm };
}

function noEfiOf(report: Check[]): Pick<Capabilities, "noEfi"> {
  const lacks = imageTypes.map((type) => [type, lackingFor(productOf(type).efi, report)] as const);
  const known = lacks.filter(([, names]) => names !== "");
  return known.length === 0 ? {} : { noEfi: Object.fromEntries(known) };
}

function noFileSystemOf(report: Check[]): Pick<Capabilities, "noFileSystem"> {
  const lacks = fileSystems.map((name) => [name, lackingFor([`${name} disks`], report)] as const);
  const known = lacks.filter(([, names]) => names !== "");
  return known.length === 0 ? {} : { noFileSystem: Object.fromEntries(known) };
}

/** The names of the failed checks that these extras need. Empty if nothing is missing. */
function lackingFor(extras: readonly Ability[], report: Check[]): string {
  return namesOf(
    report.filter(({ state, disables }) => state !== "ok" && extras.some((one) => disables.includes(one))),
  );
}

const namesOf = (checks: Check[]): string =>
  checks
    .map(({ name }) => name)
    .join(", ")
    .slice(0, maxLackingLength);

/** The reasons that the Worker shows users if no agent can run their build. */
function lackingOf(report: Check[]): Capabilities["lacking"] {
  const wanted = [...imageTypes, ...arches];
  const lacks = wanted.map((each) => [each, namesOf(obstaclesTo(each, report))] as const);
  return Object.fromEntries(lacks.filter(([, names]) => names !== ""));
}
