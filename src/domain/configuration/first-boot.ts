import type { Issue } from "#domain/appliances/issue";
import type { PlannedImage } from "#domain/configuration/division";
import { needsVolumes } from "#domain/configuration/volumes";
import type { ImageType } from "#lib/contract/index";
import { encryptsDisk } from "#lib/kiwi/disk-encryption";
import { hasCloudInit, leavesNetworkToCloudInit } from "#lib/kiwi/first-boot";
import { hasIgnition } from "#lib/kiwi/ignition";
import type { Configuration } from "#lib/configuration/stored";

type FirstBootFacts = Pick<Configuration, "settings" | "network" | "lvm">;

/** Reports settings that are decided both at the first boot and by the appliance. */
export function firstBootIssues(configuration: FirstBootFacts, { imageType }: { imageType: ImageType }): Issue[] {
  if (!hasCloudInit({ ...configuration, imageType })) return [];
  return [...networkIssues(configuration.network), ...(needsVolumes(configuration, imageType) ? [volumesStay] : [])];
}

/** The programs of a first boot, as sentences name them. */
export const firstBootNames = { none: "nothing", "cloud-init": "cloud-init", ignition: "Ignition" } as const;

/** Reports images in which Ignition would never start, or was never tried. */
export function ignitionIssues(
  { settings }: Pick<Configuration, "settings">,
  { imageType, hasUnifiedKernel = false }: Pick<PlannedImage, "imageType" | "hasUnifiedKernel">,
): Issue[] {
  if (!hasIgnition({ imageType, settings })) return [];
  return [
    ...(hasUnifiedKernel ? [withoutIgnition("the signed kernel starts without GRUB, which starts Ignition")] : []),
    ...(encryptsDisk({ imageType, settings }) ? [withoutIgnition("it was never tried on an encrypted disk")] : []),
  ];
}

const withoutIgnition = (why: string): Issue => ({
  type: "error",
  text: `Ignition cannot configure the machine, because ${why}.`,
  setting: { path: "settings/first_boot", value: "none", words: "Use no Ignition" },
});

const warning = (text: string): Issue => ({ type: "warning", text });

const volumesStay = warning(
  "cloud-init can grow a root on a plain partition, but not volumes (LVM), which keep their sizes on a larger disk.",
);

const decides: Partial<Record<Configuration["network"]["type"], string>> = {
  manual: "The appliance has a fixed address",
  ask_on_first_boot: "The appliance asks for its address at the first boot",
};

/** The appliance's setting has precedence, so that two programs never configure the same network. */
function networkIssues({ type }: Configuration["network"]): Issue[] {
  const own = leavesNetworkToCloudInit({ type }) ? undefined : decides[type];
  if (own === undefined) return [];
  const text = `${own}, so cloud-init does not configure the network. To let cloud-init configure it, use DHCP.`;
  return [{ ...warning(text), setting: { path: "network/type", value: "dhcp", words: "Use DHCP" } }];
}
