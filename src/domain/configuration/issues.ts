import type { ImageType } from "#contract/index";
import type { Issue } from "#domain/appliances/issue";
import type { Configuration } from "#domain/configuration/configuration";

/** What a configuration is held against: the image that would be built now. */
export interface PlannedImage {
  imageType: ImageType;
  packages: readonly { name: string; arch: string }[];
}

/** What a configuration asks for and its software has no program for: it can be built, and would not do what is wanted. */
export function configurationIssues(configuration: Configuration, image: PlannedImage): Issue[] {
  const { firewall, settings, databases } = configuration;
  const has = (pattern: RegExp) => image.packages.some(({ name }) => pattern.test(name));
  const is32Bit = image.packages.some(({ arch }) => /^i[3-6]86$/.test(arch));
  return [
    needsVolumes(configuration, image.imageType) && !has(/^lvm2$/) && withoutLvm2,
    // The ones that config.sh writes rules for (kiwi/firewall.ts).
    isOwn(firewall) && !has(/^(firewalld|SuSEfirewall2|nftables)$/) && withoutFilter,
    settings.paeEnabled && !is32Bit && warning("PAE is set, which only 32-bit kernels have: it changes nothing."),
    settings.paeEnabled &&
      is32Bit &&
      !has(/^kernel-.*pae/) &&
      warning("PAE is set, but no kernel with it is selected."),
    settings.xenHostModeEnabled &&
      !has(/^xen$/) &&
      warning("Xen host mode is set, but the package xen is not selected."),
    ...databases.map(({ type }) => !has(servers[type]) && warning(`${titles[type]} is configured, but not selected.`)),
  ].filter((issue) => issue !== false);
}

/** Whether the image's disk is divided by LVM; media, and trees for the network, have no disk of their own. */
export const needsVolumes = ({ lvm }: Pick<Configuration, "lvm">, imageType: ImageType): boolean =>
  lvm.enabled && imageType !== "iso" && imageType !== "net";

/** Every new appliance asks for a firewall with ssh open, and most small ones have none: that is nobody's wish. */
const isOwn = ({ enabled, openPorts }: Configuration["firewall"]): boolean =>
  enabled && (openPorts.length !== 1 || openPorts[0] !== "ssh");

const warning = (text: string): Issue => ({ type: "warning", text });

const withoutLvm2: Issue = {
  ...warning("The disk is divided into volumes (LVM), but lvm2 is not selected: the image may not find its root."),
  solution: { type: "install", package: "lvm2" },
};

const withoutFilter = warning(
  "The firewall is enabled, but no program for it is selected (firewalld, SuSEfirewall2 or nftables): nothing would be filtered.",
);

type Database = Configuration["databases"][number]["type"];
const servers: Record<Database, RegExp> = {
  pgsql: /^postgresql\d*-server$/,
  mysql: /^(mysql|mariadb)(-community-server|-server)?$/,
};
const titles: Record<Database, string> = { pgsql: "PostgreSQL", mysql: "MySQL" };
