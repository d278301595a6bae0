import {
  architectures,
  imageFormats,
  productOf,
  type Arch,
  type Firmware,
  type FrozenInput,
  type ImageType,
} from "#lib/contract/index";
import type { BaseSystemFacts } from "#model/catalogue";

/** The facts that decide the firmware of an image. `packages` contains all of its packages. */
export interface BootFacts {
  arch: Arch;
  imageType: ImageType;
  baseSystem: Pick<BaseSystemFacts, "efiBootLoaders" | "secureBoot" | "unifiedKernel">;
  packages: readonly { name: string }[];
}

/** How an image boots. */
export interface Boot {
  firmware: Firmware;
  /** Whether its EFI partition has the kernel as one program, which the owner can sign. Default: false. */
  hasUnifiedKernel?: boolean;
}

export const bootOf = (facts: BootFacts): Boot => ({
  firmware: firmwareOf(facts),
  hasUnifiedKernel: hasUnifiedKernel(facts),
});

export function firmwareOf(facts: BootFacts): Firmware {
  if (efiBootLoaderOf(facts) === undefined) return "bios";
  return hasAll(facts, facts.baseSystem.secureBoot) ? "uefi" : "efi";
}

/** Only a disk has the program: the owner signs it in the image, and cannot change a medium. */
export const canHaveUnifiedKernel = (imageType: ImageType): boolean => imageFormats[imageType].product === "disk";

const hasUnifiedKernel = (facts: BootFacts): boolean =>
  canHaveUnifiedKernel(facts.imageType) &&
  firmwareOf(facts) !== "bios" &&
  hasAll(facts, facts.baseSystem.unifiedKernel);

/** The parts of a frozen input that describe the firmware. */
export const frozenFirmware = (firmware: Firmware): Pick<FrozenInput, "firmware" | "hasSecureBoot"> =>
  firmware === "uefi" ? { firmware: "efi", hasSecureBoot: true } : { firmware };

/** The firmware of a built image. */
export function firmwareOfBuild({ needsEfi, hasSecureBoot }: Record<"needsEfi" | "hasSecureBoot", boolean>): Firmware {
  if (hasSecureBoot) return "uefi";
  return needsEfi ? "efi" : "bios";
}

/** Whether the packages include everything that a way of booting needs. */
function hasAll({ packages }: BootFacts, needed: readonly string[] = []): boolean {
  const names = new Set(packages.map(({ name }) => name));
  return needed.length > 0 && needed.every((name) => names.has(name));
}

/**
 * The package that makes an image boot with UEFI and, on a PC, also with BIOS. Undefined if the image boots only with
 * BIOS (decision 31). Network images have no boot loader.
 */
export function efiBootLoaderOf({ arch, imageType, baseSystem, packages }: BootFacts): string | undefined {
  if (!architectures[arch].hasEfi || !productOf(imageType).startsAlone) return undefined;
  const loaders = baseSystem.efiBootLoaders ?? [];
  return loaders.find((loader) => packages.some(({ name }) => name === loader));
}
