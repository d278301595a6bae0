import type { Issue } from "#domain/appliances/issue";
import { needsVolumes } from "#domain/configuration/volumes";
import { imageFormats, type ImageType } from "#lib/contract/index";
import { encryptsDisk, opensItself, type KeptWay } from "#lib/kiwi/disk-encryption";
import type { Configuration } from "#lib/configuration/stored";
import { partitionsOf } from "#lib/kiwi/partitions";
import { swapPartitionMb } from "#lib/kiwi/swap-partition";

/** Reports disks that cannot be encrypted, and machines whose disk no one could unlock. */
export function diskEncryptionIssues(
  configuration: Pick<Configuration, "settings" | "lvm" | "checks" | "network">,
  { imageType }: { imageType: ImageType },
): Issue[] {
  const { settings } = configuration;
  if (!encryptsDisk({ imageType, settings })) return [];
  const { diskEncryption } = settings;
  const isSealed = diskEncryption === "tpm";
  const isServed = diskEncryption === "tang";
  const keeper = opensItself(diskEncryption) ? keepers[diskEncryption] : undefined;
  return [
    needsVolumes(configuration, imageType) && volumesStayPlain,
    partitionsOf(configuration.lvm).length > 0 && partitionsStayPlain,
    swapPartitionMb(settings) > 0 && swapStaysPlain,
    isForCloud(imageType) && (keeper === undefined ? noOneAtConsole(imageType) : keptConsole(imageType, keeper)),
    isServed && (settings.tangServer === "" || settings.tangThumbprint === "") && noServer,
    isServed && hasNoDhcp(configuration.network) && needsDhcp,
    configuration.checks.length > 0 && !isSealed && nobodyAnswers,
    isSealed && settings.automaticUpdates !== "none" && updatesChangeTheStart,
  ].filter((issue) => issue !== false);
}

const volumesStayPlain: Issue = {
  type: "error",
  text: "Disk encryption is on, but the disk has volumes (LVM), which Kiln cannot encrypt. Use only one.",
  setting: { path: "settings/disk_encryption", value: "none", words: "Use no disk encryption" },
};

const partitionsStayPlain: Issue = {
  ...volumesStayPlain,
  text: "Disk encryption is on, but the disk has partitions, and Kiln can encrypt only the root. Use only one.",
};

const swapStaysPlain: Issue = {
  type: "error",
  text: "Disk encryption is on, but the machine would write its memory to a swap partition, which Kiln cannot encrypt.",
  setting: { path: "settings/swap_in", value: "file", words: "Swap in a file" },
};

/** The names of the places that store a disk's key, so that no one has to type it. */
const keepers: Readonly<Record<KeptWay, string>> = {
  tpm: "a TPM 2.0",
  tang: "its key server",
};

/** Whether the image is for a cloud, whose machines have at most a serial console. */
const isForCloud = (imageType: ImageType): boolean =>
  ["Azure", "Ec2", "GCE"].includes(imageFormats[imageType].datasource ?? "");

const noOneAtConsole = (imageType: ImageType): Issue => ({
  type: "warning",
  text: `A machine of the type ${imageType} waits at each boot until a person types the passphrase at its console, which a cloud may not have.`,
  setting: { path: "settings/disk_encryption", value: "none", words: "Use no disk encryption" },
});

const keptConsole = (imageType: ImageType, keeper: string): Issue => ({
  type: "warning",
  text: `A machine of the type ${imageType} shows the recovery key of its disk on its console, which a cloud may keep. Without ${keeper}, it waits for a passphrase.`,
  setting: { path: "settings/disk_encryption", value: "none", words: "Use no disk encryption" },
});

const noServer: Issue = {
  type: "error",
  text: "A key server unlocks the disk, but its address or the thumbprint of its key is missing.",
};

/**
 * Whether the machine gets no address by DHCP. Its own network configuration is in the root file system, which is not
 * unlocked yet.
 */
const hasNoDhcp = ({ type }: Configuration["network"]): boolean => ["manual", "ask_on_first_boot"].includes(type);

const needsDhcp: Issue = {
  type: "warning",
  text: "To reach the key server of its disk, a machine needs DHCP, because its own network settings are on the disk. Without DHCP, it waits for a passphrase at each boot.",
};

const updatesChangeTheStart: Issue = {
  type: "warning",
  text: "Automatic updates are on. After an update of the kernel or of GRUB, the TPM opens the disk only when a person has typed the recovery key once.",
  setting: { path: "settings/automatic_updates", value: "none", words: "Install no updates automatically" },
};

const nobodyAnswers: Issue = {
  type: "warning",
  text: "Checks that wait for a login fail, because the image asks about its disk encryption and no one answers.",
};
