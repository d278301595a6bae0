import type { Issue } from "#domain/appliances/issue";
import { needsVolumes, rootPartitionMb } from "#domain/configuration/volumes";
import type { Boot } from "#domain/images/firmware";
import { fileSystemFacts, type ImageType } from "#lib/contract/index";
import type { Configuration } from "#lib/configuration/stored";
import { partitionsOf } from "#lib/kiwi/partitions";
import { encryptsDisk } from "#lib/kiwi/disk-encryption";
import { fileSystemOf, hasOtherFileSystem } from "#lib/kiwi/file-system";

/**
 * Reports a file system that does not fit on the disk, or whose combination with the disk's other settings was never
 * tested.
 */
export function fileSystemIssues(
  configuration: Pick<Configuration, "settings" | "lvm">,
  { imageType, ...boot }: Boot & { imageType: ImageType },
): Issue[] {
  const { settings } = configuration;
  const image = { imageType, settings };
  if (!hasOtherFileSystem(image)) return [];
  const fileSystem = fileSystemOf(image);
  const { leastMb = 0 } = fileSystemFacts[fileSystem];
  const rootMb = rootPartitionMb(configuration, boot);
  const small = partitionsOf(configuration.lvm).find(({ sizeMb }) => sizeMb < leastMb);
  return [
    encryptsDisk(image) && issue(`Disk encryption is on, but Kiln can encrypt only ext4, not ${fileSystem}.`),
    needsVolumes(configuration, imageType) &&
      issue(`The disk has volumes (LVM), which Kiln supports only with ext4, not with ${fileSystem}.`),
    rootMb < leastMb &&
      issue(
        `A root with ${fileSystem} needs ${leastMb} MB, but a disk of ${settings.diskSizeMb} MB has only ${Math.max(0, rootMb)} MB for it.`,
      ),
    small &&
      issue(`A partition with ${fileSystem} needs ${leastMb} MB, but ${small.path} has only ${small.sizeMb} MB.`),
  ].filter((one) => one !== false && one !== undefined);
}

const issue = (text: string): Issue => ({
  type: "error",
  text,
  setting: { path: "settings/file_system", value: "ext4", words: "Use ext4" },
});
