import type { Issue } from "#domain/appliances/issue";
import { divisionIssues, type PlannedImage } from "#domain/configuration/division";
import { diskEncryptionIssues } from "#domain/configuration/disk-encryption";
import { firstBootNames, ignitionIssues } from "#domain/configuration/first-boot";
import { fileSystemIssues } from "#domain/configuration/file-system";
import { needsVolumes } from "#domain/configuration/volumes";
import type { Configuration } from "#lib/configuration/stored";

/**
 * Reports settings that the image would ignore because its software has no program for them, divisions of the disk that
 * cannot be built, and problems with the encryption of the disk and with its file system.
 */
export function configurationIssues(configuration: Configuration, image: PlannedImage): Issue[] {
  const { firewall, settings, databases } = configuration;
  const has = (pattern: RegExp) => image.packages.some(({ name }) => pattern.test(name));
  const is32Bit = image.packages.some(({ arch }) => /^i[3-6]86$/.test(arch));
  const people = configuration.users;
  const hasFirstBoot = image.packages.some(({ name }) => name === settings.firstBoot);
  const hasSshd = has(/^(openssh(-server)?|dropbear)$/);
  const haveKeys = people.some(({ sshKeys }) => sshKeys.length > 0);
  return [
    people.some(({ administrator }) => administrator) && !has(/^sudo$/) && withoutSudo,
    haveKeys && !hasSshd && (people.some(({ password }) => password !== "") ? withoutSshd : withoutLogin),
    hasFirstBoot && !haveKeys && !hasSshd && withoutSshdForKeys(firstBootNames[settings.firstBoot]),
    ...ignitionIssues(configuration, image),
    ...divisionIssues(configuration, image),
    needsVolumes(configuration, image.imageType) && !has(/^lvm2$/) && withoutLvm2,
    ...diskEncryptionIssues(configuration, image),
    ...fileSystemIssues(configuration, image),
    // The firewalls that config.sh writes rules for (kiwi/firewall.ts).
    isOwn(firewall) && !has(/^(firewalld|SuSEfirewall2|nftables)$/) && withoutFilter,
    settings.paeEnabled && !is32Bit && warning("PAE is enabled, but only 32-bit kernels have it, so it has no effect."),
    settings.paeEnabled &&
      is32Bit &&
      !has(/^kernel-.*pae/) &&
      warning("PAE is enabled, but no kernel with it is selected."),
    settings.xenHostModeEnabled &&
      !has(/^xen$/) &&
      warning("Xen host mode is enabled, but the package xen is not selected."),
    ...databases.map(({ type }) => !has(servers[type]) && warning(`${titles[type]} is configured, but not selected.`)),
  ].filter((issue) => issue !== false);
}

/**
 * Whether the firewall differs from the default. New appliances enable the firewall with ssh open, and most small ones
 * include no firewall, so the default gives no warning.
 */
const isOwn = ({ enabled, openPorts }: Configuration["firewall"]): boolean =>
  enabled && (openPorts.length !== 1 || openPorts[0] !== "ssh");

const warning = (text: string): Issue => ({ type: "warning", text });

const withoutSudo: Issue = {
  ...warning("Some users are administrators, but sudo is not selected: they would need root's password."),
  solution: { type: "install", package: "sudo" },
};

const withoutSshd: Issue = {
  ...warning(
    "Some users have SSH keys, but no SSH server is selected (openssh-server): no one could log in with them.",
  ),
  solution: { type: "install", package: "openssh-server" },
};

const withoutSshdForKeys = (program: string): Issue => ({
  ...warning(
    `${program} adds SSH keys, but no SSH server is selected (openssh-server): no one could log in with them.`,
  ),
  solution: { type: "install", package: "openssh-server" },
});

const withoutLogin: Issue = {
  ...warning("No user has a password, and no SSH server is selected (openssh-server): no one could log in."),
  solution: { type: "install", package: "openssh-server" },
};

const withoutLvm2: Issue = {
  ...warning("The disk has volumes (LVM), but lvm2 is not selected: the image may not find its root."),
  solution: { type: "install", package: "lvm2" },
};

const withoutFilter = warning(
  "The firewall is enabled, but no program for it is selected (firewalld, SuSEfirewall2 or nftables): nothing would be filtered.",
);

type Database = Configuration["databases"][number]["type"];
const servers: Record<Database, RegExp> = {
  // SUSE's packages, and Debian's.
  pgsql: /^postgresql(\d*-server|-\d+)$/,
  mysql: /^(mysql|mariadb)(-community-server|-server)?$/,
};
const titles: Record<Database, string> = { pgsql: "PostgreSQL", mysql: "MySQL" };
