// Not the contract's index, because the command line imports this file and would then include all of zod.
import { datasourcesOf } from "#lib/contract/image-formats";
import type { ImageType } from "#lib/contract/index";
import type { Configuration } from "#lib/configuration/stored";
import type { ImageFacts } from "#lib/kiwi/facts";
import { encryptsDisk } from "#lib/kiwi/disk-encryption";
import type { Own } from "#lib/kiwi/import/own";
import { linesOf, type Part } from "#lib/kiwi/part";

type FirstBootFacts = Pick<ImageFacts, "imageType" | "settings" | "users" | "network">;

export interface FirstBootChoice {
  imageType: ImageType;
  settings: Pick<ImageFacts["settings"], "firstBoot">;
}

/** Whether cloud-init runs in the image. It has no data to find for media, networks and containers. */
export const hasCloudInit = ({ imageType, settings }: FirstBootChoice): boolean =>
  settings.firstBoot === "cloud-init" && datasourcesOf(imageType).length > 0;

/** Whether cloud-init also configures the network. With every other type of network, the appliance determines it. */
export const leavesNetworkToCloudInit = ({ type }: Pick<Configuration["network"], "type">): boolean => type === "dhcp";

/** Read after 90_dpkg.cfg, which lists every source, and before the owner's own files, which may override it. */
const configurationFile = "root/etc/cloud/cloud.cfg.d/95-kiln.cfg";

/** Configures cloud-init so that it and the image never decide the same thing. */
export function firstBootPart(facts: FirstBootFacts): Part {
  if (!hasCloudInit(facts)) return {};
  return {
    files: {
      [configurationFile]: configurationOf(facts),
      "root/etc/cloud/ds-identify.cfg": withoutData,
      "root/etc/systemd/system/kiln-before-login.service.d/cloud-init.conf": early,
    },
  };
}

export const readFirstBoot = ({ textAt }: Own) => ({
  first_boot: textAt(configurationFile) === undefined ? "none" : "cloud-init",
});

/**
 * Even without data, a machine grows its disk and gets an address by DHCP. By default, cloud-init would not run at all.
 */
const withoutData = linesOf("policy: search,found=all,maybe=all,notfound=enabled");

/**
 * cloud-init configures the network before sysinit.target, and this unit comes before the network. With the usual
 * dependencies, it would also come after sysinit.target, and systemd would drop one of the two.
 */
const early = linesOf("[Unit]", "DefaultDependencies=no", "Conflicts=shutdown.target", "Before=shutdown.target");

function configurationOf({ imageType, settings, users, network }: FirstBootFacts): string {
  // One line, because ds-identify reads it without a YAML parser.
  const sources = [...datasourcesOf(imageType), "None"].join(", ");
  const keysFor = users.find(({ name, administrator }) => administrator && name !== "root");
  return linesOf(
    "# Written by Kiln. A file with a later name can change it.",
    `datasource_list: [ ${sources} ]`,
    // Outside Amazon's cloud, it would otherwise wait two minutes for an answer.
    "datasource: { Ec2: { strict_id: true } }",
    // The machine must be able to resolve its new name. Otherwise sudo complains, and waits for a name server.
    "manage_etc_hosts: localhost",
    // cloud-init of Debian 12 also makes a DSA key, which OpenSSH refuses.
    "ssh_genkeytypes: [rsa, ecdsa, ed25519]",
    // The initial archive has grown the partition of an encrypted root, which cloud-init could not.
    ...(encryptsDisk({ imageType, settings }) ? ["growpart: { mode: off }"] : []),
    "# The appliance's repositories stay.",
    "apt: { preserve_sources_list: true }",
    ...(leavesNetworkToCloudInit(network)
      ? []
      : ["# The appliance decides the network.", "network: { config: disabled }"]),
    ...(keysFor === undefined ? [] : administratorOf(keysFor.name)),
  );
}

/**
 * Without this, cloud-init would create its default user for the keys. An existing one keeps its password and its
 * rights.
 */
const administratorOf = (name: string): string[] => [
  "# The keys of a cloud are for the appliance's administrator.",
  "system_info:",
  "  default_user:",
  `    name: ${name}`,
  "    lock_passwd: false",
  "    sudo: null",
];

/**
 * A function of config.sh. If the image has systemd-resolved, systemd's network service does what cloud-init writes: in
 * Debian 13, ifupdown has no client for DHCPv6, which cloud-init requests. Otherwise ifupdown does it, which reads
 * those files only if its own file includes them.
 */
export const firstBootFunctions = String.raw`
leave_network_to_cloud_init() {
  if has_systemd && [ -x /usr/lib/systemd/systemd-resolved ]; then
    echo "system_info: { network: { renderers: [networkd] } }" > /etc/cloud/cloud.cfg.d/96-kiln-network.cfg
    switch_service on systemd-networkd
    switch_service on systemd-resolved
  fi
  [ ! -e /etc/default/networking ] ||
    printf '%s\n' "source /etc/network/interfaces.d/*" "" "auto lo" "iface lo inet loopback" > /etc/network/interfaces
}
`;
