import type { Firmware } from "#lib/contract/index";
import type { BaseSystemFacts } from "#model/catalogue";

/** A configuration of a template with which its images are tried. */
interface Tried {
  /** Its name in reports. Empty for the template as it is. */
  label: string;
  /** The changed settings, as clients of the API write them. */
  change?: object;
  /** The packages that it adds to the selection. Undefined if the base system does not have them. */
  packages?: (base: BaseSystemFacts) => string[] | undefined;
  /** Whether it applies only to images with a disk of the appliance's size. */
  ofDisk?: boolean;
  /** The firmware that its images must have. Others are not tried. */
  firmware?: Firmware;
  /** Commands that must succeed in the booted system, in addition to those that its template promises. */
  promises?: readonly string[];
}

const startedByUefi = "test -d /sys/firmware/efi";
const rootIs = (fileSystem: string) => `findmnt --noheadings --output FSTYPE / | grep -x ${fileSystem}`;

/** A subvolume's root is always its inode 256. */
const subvolumes = ["/home", "/var/log"].map((path) => `test "$(stat -c %i ${path})" = 256`);

const separate = [
  { size: 100, path: "/home" },
  { size: 200, path: "/var" },
];
const mounted = separate.map(({ path }) => `mountpoint ${path}`);

const settings = (change: object) => ({ change: { settings: change } });
const network = (change: object) => ({ change: { network: change } });

const tried = {
  plain: { label: "" },
  uefi: {
    label: "UEFI",
    packages: ({ efiBootLoaders }) => efiBootLoaders?.slice(0, 1),
    firmware: "efi",
    promises: [startedByUefi],
  },
  "secure-boot": {
    label: "Secure Boot",
    packages: ({ efiBootLoaders = [], secureBoot }) => secureBoot && [...efiBootLoaders.slice(0, 1), ...secureBoot],
    firmware: "uefi",
    promises: [startedByUefi],
  },
  xfs: { label: "xfs", ...settings({ file_system: "xfs" }), promises: [rootIs("xfs")] },
  btrfs: { label: "btrfs", ...settings({ file_system: "btrfs" }), promises: [rootIs("btrfs"), ...subvolumes] },
  encrypted: { label: "encrypted disk", ...settings({ disk_encryption: "passphrase" }) },
  volumes: {
    label: "LVM",
    change: { lvm: { enabled: true, volume_group: "system", volumes: separate } },
    packages: () => ["lvm2"],
    ofDisk: true,
    promises: mounted,
  },
  partitions: {
    label: "partitions, one of them for swap",
    change: {
      lvm: { enabled: true, kind: "partitions", volumes: separate },
      settings: { swap_in: "partition", swap_size: 128 },
    },
    ofDisk: true,
    promises: [...mounted, "swapon --noheadings --show=TYPE | grep -x partition"],
  },
  "no-swap": { label: "no swap", ...settings({ swap_size: 0 }), ofDisk: true },
  "cloud-init": { label: "cloud-init", ...settings({ first_boot: "cloud-init" }) },
  ignition: { label: "Ignition", ...settings({ first_boot: "ignition" }) },
  "security-updates": { label: "security updates", ...settings({ automatic_updates: "security" }) },
  "all-updates": { label: "all updates", ...settings({ automatic_updates: "all" }) },
  "fixed-address": {
    label: "fixed address",
    ...network({ type: "manual", ip: "192.0.2.20", netmask: "255.255.255.0", route: "192.0.2.1" }),
  },
  "network-manager": { label: "NetworkManager", ...network({ type: "network_manager" }) },
  "no-network": { label: "network as in the packages", ...network({ type: "none" }) },
} satisfies Readonly<Record<string, Tried>>;

export type ConfigurationName = keyof typeof tried;

export const configurationNames = Object.keys(tried) as [ConfigurationName, ...ConfigurationName[]];

export const configurations: Readonly<Record<ConfigurationName, Tried>> = tried;
