import type { Boot } from "#domain/images/firmware";
import { type ImageType, productOf } from "#lib/contract/index";
import type { Configuration } from "#lib/configuration/stored";
import { partitionsOf } from "#lib/kiwi/partitions";
import { swapPartitionMb } from "#lib/kiwi/swap-partition";
import { unifiedKernelPartitionMb } from "#lib/kiwi/unified-kernel";

/** The facts that decide whether volumes fit on their disk. */
type DiskFacts = Pick<Configuration, "lvm" | "settings">;

// All sizes are in MB. KIWI NG 9.24 creates the partitions (kiwi/defaults.py); the first one begins at 1 MB. LVM uses
// the last partition: 1 MB for itself, and the rest in whole extents.
const extentMb = 4;
const outsideVolumes = { tableMb: 1, bootMb: 300, ownMb: 1 };
/** The BIOS boot partition, and the second table of GPT at the end of the disk. */
const besideEfiPartitionMb = 2 + 1;
const usualEfiPartitionMb = 20;
/** KIWI's minimum for a volume without a size. */
const leastRootMb = 32;

/** Whether LVM divides the image's disk into volumes. Media and network images have no disk. */
export const needsVolumes = ({ lvm }: Pick<Configuration, "lvm">, imageType: ImageType): boolean =>
  lvm.enabled && lvm.kind === "lvm" && productOf(imageType).hasDisk;

/**
 * Why the volumes do not fit on a disk with this way of booting, without a full stop. Undefined if they fit.
 */
export function whyNoRoomForVolumes({ lvm, settings }: DiskFacts, boot: Boot): string | undefined {
  const needed = neededMb({ lvm, settings });
  const room = roomMb(settings.diskSizeMb, boot);
  if (needed <= room) return undefined;
  const parts = [
    ...(swapPartitionMb(settings) > 0 ? [`${swapPartitionMb(settings)} MB of it for swap`] : []),
    ...(lvm.volumes.some(({ path }) => path === "/") ? [] : [`${leastRootMb} MB of it for the root volume`]),
  ];
  const rest = parts.map((part) => `, ${part}`).join("");
  const there = `a disk of ${settings.diskSizeMb} MB has room for ${room} MB of volumes`;
  return `need ${needed} MB${rest}, but ${there}: /boot and the partition table take the rest`;
}

/**
 * The size of the root volume in MB: the configured size, or whatever the other volumes leave free on a disk with this
 * way of booting.
 */
export function rootVolumeMb({ lvm, settings }: DiskFacts, boot: Boot): number {
  const own = lvm.volumes.find(({ path }) => path === "/");
  if (own) return own.sizeMb;
  return roomMb(settings.diskSizeMb, boot) - neededMb({ lvm, settings }) + leastRootMb;
}

function neededMb({ lvm: { volumes }, settings }: DiskFacts): number {
  const root = volumes.some(({ path }) => path === "/") ? 0 : leastRootMb;
  const sizes = [...volumes.map(({ sizeMb }) => sizeMb), swapPartitionMb(settings)];
  return sizes.reduce((sum, sizeMb) => sum + Math.ceil(sizeMb / extentMb) * extentMb, root);
}

/** The size of the root partition if there are no volumes: the rest of the disk, which may be negative. */
export function rootPartitionMb({ lvm, settings }: DiskFacts, boot: Boot): number {
  const others = partitionsOf(lvm).reduce((sum, { sizeMb }) => sum + sizeMb, swapPartitionMb(settings));
  return settings.diskSizeMb - outsideVolumes.tableMb - bootPartitionsMb(boot) - others;
}

const bootPartitionsMb = ({ firmware, hasUnifiedKernel }: Boot): number =>
  firmware === "bios" ? 0 : besideEfiPartitionMb + (hasUnifiedKernel ? unifiedKernelPartitionMb : usualEfiPartitionMb);

function roomMb(diskMb: number, boot: Boot): number {
  const { tableMb, bootMb, ownMb } = outsideVolumes;
  const beside = tableMb + bootMb + ownMb + bootPartitionsMb(boot);
  return Math.max(0, Math.floor((diskMb - beside) / extentMb) * extentMb);
}
