import type { Arch, Capabilities, FileSystem, ImageType, PackageType } from "#lib/contract/index";
import type { Build } from "#storage/builds";

/** The requirements of a build that a builder must meet. */
export interface Wanted {
  imageType: ImageType;
  arch: Arch;
  packageType: PackageType;
  /** The builder root that the base system names. */
  builderRoot?: string | null | undefined;
}

/** Whether an agent can build an image of this kind at all. */
export function canBuild(can: Capabilities, { imageType, arch, packageType, builderRoot }: Wanted): boolean {
  const tools = toolsOf(can, builderRoot);
  return (
    tools !== undefined &&
    tools.imageTypes.includes(imageType) &&
    can.arches.includes(arch) &&
    canInstall(tools, packageType)
  );
}

type Tools = Pick<Capabilities, "imageTypes" | "packageTypes">;

/** The abilities of an agent's tools: those of the builder root, or its own. Undefined if it lacks the builder root. */
const toolsOf = (can: Capabilities, builderRoot: string | null | undefined): Tools | undefined =>
  builderRoot ? can.roots?.find(({ name }) => name === builderRoot) : can;

const canInstall = ({ packageTypes = ["rpm"] }: Tools, packageType: PackageType): boolean =>
  packageTypes.includes(packageType);

/** Whether an agent has the builder root of a build, if it needs one. */
export const hasRoot = (can: Capabilities, { builderRoot }: Pick<Wanted, "builderRoot">): boolean =>
  toolsOf(can, builderRoot) !== undefined;

/** The facts of a build that decide which agents can do it. */
export type BuildWanted = Wanted &
  Pick<Build, "needsLvm" | "needsEfi" | "fileSystem"> &
  Partial<Pick<Build, "rebuildOf">>;

export const canDo = (can: Capabilities, build: BuildWanted): boolean =>
  canBuild(can, build) &&
  (!build.rebuildOf || can.rebuilds === true) &&
  (!build.needsLvm || can.noLvm === undefined) &&
  can.noFileSystem?.[build.fileSystem] === undefined &&
  (!build.needsEfi || can.noEfi?.[build.imageType] === undefined);

/** The part of a base system that decides where its images are built. */
export type BuiltBase = Pick<Wanted, "packageType" | "builderRoot">;

/**
 * Why no builder builds images of such a base system: all builders lack the builder root, or cannot install the
 * packages. Undefined if a builder can, or if none has reported its capabilities yet.
 */
export function reasonNotBuilt(builders: readonly Capabilities[], base: BuiltBase): string | undefined {
  const { packageType, builderRoot } = base;
  const able = builders.flatMap((can) => toolsOf(can, builderRoot) ?? []);
  if (builders.length === 0 || able.some((one) => canInstall(one, packageType))) return undefined;
  if (builderRoot && able.length === 0) {
    return `This system is built in the builder root ${builderRoot}, which no builder of this service has.`;
  }
  const missing = distinct(builders.flatMap(({ noDeb }) => (packageType === "deb" ? (noDeb ?? []) : [])));
  const there = missing === "" ? "" : ` They lack: ${missing}.`;
  return `No builder of this service can build systems from ${packageType} packages.${there}`;
}

/** Why no builder can divide the disk of such an image into volumes. Undefined if one may be able to. */
export function whyNoVolumes(abilities: readonly Capabilities[], wanted: Wanted): string | undefined {
  const there = missingEverywhere(abilities, wanted, ({ noLvm }) => noLvm);
  return there && `No builder of this service can divide a disk into volumes (LVM). They lack: ${there}.`;
}

/** Why no builder can create a disk with this file system. Undefined if one may be able to. */
export function whyNoFileSystem(
  abilities: readonly Capabilities[],
  wanted: Wanted & { fileSystem: FileSystem },
): string | undefined {
  const { fileSystem } = wanted;
  const there = missingEverywhere(abilities, wanted, ({ noFileSystem }) => noFileSystem?.[fileSystem]);
  return there && `No builder of this service can make a disk with ${fileSystem}. They lack: ${there}.`;
}

/**
 * Why no builder can make such an image boot with UEFI, which the package `loader` requires. Undefined if one may be
 * able to.
 */
export function whyNoEfi(abilities: readonly Capabilities[], wanted: Wanted & { loader: string }): string | undefined {
  const there = missingEverywhere(abilities, wanted, ({ noEfi }) => noEfi?.[wanted.imageType]);
  if (there === undefined) return undefined;
  return `No builder of this service can make an image that boots with UEFI, which ${wanted.loader} requires. They lack: ${there}.`;
}

/**
 * At most three things that the builders of such images lack. Undefined if one of them lacks nothing, or if no builder
 * can build such images, which is refused elsewhere.
 */
function missingEverywhere(
  abilities: readonly Capabilities[],
  wanted: Wanted,
  lack: (can: Capabilities) => string | undefined,
): string | undefined {
  const builders = abilities.filter((can) => canBuild(can, wanted));
  const missing = builders.flatMap((can) => lack(can) ?? []);
  if (builders.length === 0 || missing.length < builders.length) return undefined;
  return distinct(missing);
}

const distinct = (texts: readonly string[]): string => [...new Set(texts)].slice(0, 3).join("; ");
