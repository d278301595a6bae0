import type { Issue } from "#domain/appliances/issue";
import { needsVolumes } from "#domain/configuration/volumes";
import type { ImageType } from "#lib/contract/index";
import { hasCloudInit, leavesNetworkToCloudInit } from "#lib/kiwi/first-boot";
import type { Configuration } from "#lib/configuration/stored";

type FirstBootFacts = Pick<Configuration, "settings" | "network" | "lvm">;

/** Reports settings that are decided both at the first boot and by the appliance. */
export function firstBootIssues(configuration: FirstBootFacts, { imageType }: { imageType: ImageType }): Issue[] {
  if (!hasCloudInit({ ...configuration, imageType })) return [];
  return [...networkIssues(configuration.network), ...(needsVolumes(configuration, imageType) ? [volumesStay] : [])];
}

const warning = (text: string): Issue => ({ type: "warning", text });

const volumesStay = warning(
  "cloud-init grows a root on a plain partition, but not the volumes (LVM): they keep their sizes on a larger disk.",
);

const decides: Partial<Record<Configuration["network"]["type"], string>> = {
  manual: "The appliance has a fixed address, and cloud-init would set one, too",
  ask_on_first_boot: "The appliance asks for its address at the first boot, and cloud-init would set one, too",
};

/** The appliance's setting has precedence, so that two programs never configure the same network. */
function networkIssues({ type }: Configuration["network"]): Issue[] {
  const both = leavesNetworkToCloudInit({ type }) ? undefined : decides[type];
  if (both === undefined) return [];
  const text = `${both}: cloud-init leaves the network alone. With DHCP, the data of the first boot decides it.`;
  return [{ ...warning(text), setting: { path: "network/type", value: "dhcp", words: "Use DHCP" } }];
}
