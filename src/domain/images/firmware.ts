import { productOf, type Arch, type Firmware, type ImageType } from "#lib/contract/index";
import type { BaseSystemFacts } from "#model/catalogue";

/** The facts that decide the firmware of an image. `packages` are all of its packages. */
export interface BootFacts {
  arch: Arch;
  imageType: ImageType;
  baseSystem: Pick<BaseSystemFacts, "efiBootLoaders">;
  packages: readonly { name: string }[];
}

export const firmwareOf = (facts: BootFacts): Firmware => (efiBootLoaderOf(facts) === undefined ? "bios" : "efi");

/**
 * The package with which an image boots by UEFI as well as by BIOS. Undefined if it boots by BIOS only (decision 31).
 * Network images have no boot loader.
 */
export function efiBootLoaderOf({ arch, imageType, baseSystem, packages }: BootFacts): string | undefined {
  if (arch !== "x86_64" || !productOf(imageType).startsAlone) return undefined;
  const loaders = baseSystem.efiBootLoaders ?? [];
  return loaders.find((loader) => packages.some(({ name }) => name === loader));
}
