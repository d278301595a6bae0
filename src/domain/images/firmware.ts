import type { Arch, Firmware, ImageType } from "#contract/index";
import type { BaseSystemFacts } from "#model/catalogue";

/** What decides about the firmware of an image; `packages`: all that it gets. */
export interface BootFacts {
  arch: Arch;
  imageType: ImageType;
  baseSystem: Pick<BaseSystemFacts, "efiBootLoaders">;
  packages: readonly { name: string }[];
}

export const firmwareOf = (facts: BootFacts): Firmware => (efiBootLoaderOf(facts) === undefined ? "bios" : "efi");

/**
 * The package by which an image boots by UEFI, and by BIOS as before; undefined: by BIOS alone (decision 31). What starts from
 * a network has no boot loader of its own.
 */
export function efiBootLoaderOf({ arch, imageType, baseSystem, packages }: BootFacts): string | undefined {
  if (arch !== "x86_64" || imageType === "net") return undefined;
  const loaders = baseSystem.efiBootLoaders ?? [];
  return loaders.find((loader) => packages.some(({ name }) => name === loader));
}
