import type { Arch, Capabilities, ImageType } from "#contract/index";
import type { Agent } from "#storage/agents";

/** What a build asks of a builder. */
export interface Wanted {
  imageType: ImageType;
  arch: Arch;
}

/** Whether an agent can make an image of this kind at all. */
export const canBuild = ({ imageTypes, arches }: Capabilities, { imageType, arch }: Wanted): boolean =>
  imageTypes.includes(imageType) && arches.includes(arch);

/**
 * Why no builder divides the disk of such an image into volumes. Undefined: one does, or none has said that it makes such
 * images, which is another refusal.
 */
export function whyNoVolumes(agents: readonly Agent[], wanted: Wanted): string | undefined {
  const builders = agents.flatMap(({ capabilities }) => capabilities ?? []).filter((can) => canBuild(can, wanted));
  const missing = builders.flatMap(({ noLvm }) => noLvm ?? []);
  if (builders.length === 0 || missing.length < builders.length) return undefined;
  const there = [...new Set(missing)].slice(0, 3).join("; ");
  return `No builder of this service can divide a disk into volumes (LVM). Missing there: ${there}.`;
}
