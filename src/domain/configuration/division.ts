import type { Issue } from "#domain/appliances/issue";
import { needsVolumes, rootPartitionMb, rootVolumeMb, whyNoRoomForVolumes } from "#domain/configuration/volumes";
import type { Configuration } from "#lib/configuration/stored";
import type { Boot } from "#domain/images/firmware";
import { productOf, type ImageType } from "#lib/contract/index";
import { partitionsOf } from "#lib/kiwi/partitions";
import { swapPartitionMb } from "#lib/kiwi/swap-partition";

/** The image that would be built now. A configuration is compared with it. */
export interface PlannedImage extends Boot {
  imageType: ImageType;
  packages: readonly { name: string; arch: string }[];
  /** The size of the installed packages, in MB. */
  softwareMb: number;
}

type DiskFacts = Pick<Configuration, "lvm" | "settings">;

/** Reports a division of the disk that cannot be built, or that leaves too little room for the software. */
export function divisionIssues(configuration: DiskFacts, image: PlannedImage): Issue[] {
  const { lvm, settings } = configuration;
  if (needsVolumes(configuration, image.imageType)) return volumeIssues(configuration, image);
  if (!productOf(image.imageType).hasDisk) return [];
  const partitions = partitionsOf(lvm).length + (swapPartitionMb(settings) > 0 ? 1 : 0);
  return partitions === 0 ? [] : partitionIssues(configuration, image, partitions);
}

/** Reports problems with volumes. Only the software shows whether the image boots with UEFI, which needs more room. */
function volumeIssues(configuration: DiskFacts, { softwareMb, ...boot }: PlannedImage): Issue[] {
  const why = whyNoRoomForVolumes(configuration, boot);
  if (why !== undefined) return [error(`The volumes (LVM) ${why}.`)];
  const small = smallDirectories(configuration, softwareMb);
  if (small.length > 0) return small;
  const rootMb = rootVolumeMb(configuration, boot);
  if (softwareMb <= rootMb) return [];
  const hope = "it fits only if enough of it is in /boot and the other volumes";
  const text = `The software needs ${softwareMb} MB, but the root volume (LVM) has only ${rootMb} MB: ${hope}.`;
  return [{ type: "warning", text }];
}

/** The partition table of a disk that boots with BIOS has four entries. */
const mostByBios = 4;

function partitionIssues(configuration: DiskFacts, { softwareMb, ...boot }: PlannedImage, count: number): Issue[] {
  const { diskSizeMb } = configuration.settings;
  if (boot.firmware === "bios" && count >= mostByBios)
    return [
      error(`A disk that boots with BIOS has at most ${mostByBios} partitions, and this one would have ${count + 1}.`),
    ];
  const small = smallDirectories(configuration, softwareMb);
  if (small.length > 0) return small;
  const rootMb = rootPartitionMb(configuration, boot);
  const left = `but the partitions leave only ${Math.max(0, rootMb)} MB of a disk of ${diskSizeMb} MB for it`;
  const neededMb = partitionsOf(configuration.lvm).reduce(
    (sum, { path }) => sum - leastMb(path, softwareMb),
    softwareMb,
  );
  return neededMb > rootMb ? [error(`The software on the root needs ${neededMb} MB, ${left}.`)] : [];
}

/**
 * The part of the software that is in a directory. An image of Debian 13 with a desktop has 29 of its 1556 MB in /var
 * and nearly all the rest in /usr; the remainder is in /boot.
 */
const partsOfSoftware: Readonly<Record<string, number>> = { "/usr": 1, "/var": 0.03 };

const leastMb = (path: string, softwareMb: number): number => Math.ceil((partsOfSoftware[path] ?? 0) * softwareMb);

const smallDirectories = ({ lvm }: DiskFacts, softwareMb: number): Issue[] =>
  lvm.volumes
    .map(({ path, sizeMb }) => ({ path, sizeMb, neededMb: leastMb(path, softwareMb) }))
    .filter(({ sizeMb, neededMb }) => sizeMb < neededMb)
    .map(({ path, sizeMb, neededMb }) =>
      error(`The software needs about ${neededMb} MB in ${path}, a partition of only ${sizeMb} MB.`),
    );

const error = (text: string): Issue => ({ type: "error", text });
