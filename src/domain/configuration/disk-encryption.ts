import type { Issue } from "#domain/appliances/issue";
import { needsVolumes } from "#domain/configuration/volumes";
import { imageFormats, type ImageType } from "#lib/contract/index";
import { encryptsDisk } from "#lib/kiwi/disk-encryption";
import type { Configuration } from "#lib/configuration/stored";

/** Reports what cannot be encrypted, and machines that nobody could open. */
export function diskEncryptionIssues(
  configuration: Pick<Configuration, "settings" | "lvm" | "checks">,
  { imageType }: { imageType: ImageType },
): Issue[] {
  const { settings } = configuration;
  if (!encryptsDisk({ imageType, settings })) return [];
  return [
    needsVolumes(configuration, imageType) && volumesStayPlain,
    isForCloud(imageType) && nobodyThere(imageType),
    configuration.checks.length > 0 && nobodyAnswers,
  ].filter((issue) => issue !== false);
}

const volumesStayPlain: Issue = {
  type: "error",
  text: "The disk is to be encrypted, but it is divided into volumes (LVM), which Kiln cannot encrypt: choose one of the two.",
  setting: { path: "settings/disk_encryption", value: "none", words: "Use no disk encryption" },
};

/** The machines of these clouds have a serial console at best. */
const isForCloud = (imageType: ImageType): boolean =>
  ["Azure", "Ec2", "GCE"].includes(imageFormats[imageType].datasource ?? "");

const nobodyThere = (imageType: ImageType): Issue => ({
  type: "warning",
  text: `A machine of the type ${imageType} waits at each boot until somebody types the passphrase at its console, which a cloud may not have.`,
  setting: { path: "settings/disk_encryption", value: "none", words: "Use no disk encryption" },
});

const nobodyAnswers: Issue = {
  type: "warning",
  text: "The checks boot the image, which asks about the encryption of its disk, and nobody answers: those that wait for a login fail.",
};
