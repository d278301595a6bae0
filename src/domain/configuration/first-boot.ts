import { datasourcesOf, type ImageType } from "#lib/contract/index";
import type { Issue } from "#domain/appliances/issue";
import { needsVolumes } from "#domain/configuration/volumes";
import { leavesNetworkToCloudInit } from "#lib/kiwi/first-boot";
import type { Configuration } from "#lib/configuration/stored";
import type { BaseSystemFacts } from "#model/catalogue";

interface Planned {
  imageType: ImageType;
  /** Undefined if no catalogue has it now. */
  baseSystem: Pick<BaseSystemFacts, "title" | "firstBoot"> | undefined;
}

type FirstBootFacts = Pick<Configuration, "settings" | "network" | "lvm">;

/** Reports a first boot that the image cannot have, and what it and the appliance would both decide. */
export function firstBootIssues(configuration: FirstBootFacts, { imageType, baseSystem }: Planned): Issue[] {
  const why = baseSystem && whyNoFirstBoot(configuration.settings, baseSystem);
  if (why !== undefined) return [{ type: "error", text: `The first boot ${why}.`, setting: withoutFirstBoot }];
  if (configuration.settings.firstBoot === "none") return [];
  if (datasourcesOf(imageType).length === 0) return [notForType(imageType)];
  return [...networkIssues(configuration.network), ...(needsVolumes(configuration, imageType) ? [volumesStay] : [])];
}

/** Why the base system cannot have it, without a full stop. Undefined if it can. */
export function whyNoFirstBoot(
  { firstBoot }: Pick<Configuration["settings"], "firstBoot">,
  { title, firstBoot: known }: Pick<BaseSystemFacts, "title" | "firstBoot">,
): string | undefined {
  if (firstBoot === "none" || known?.[firstBoot] !== undefined) return undefined;
  return `must be none, because Kiln knows no packages of ${firstBoot} for ${title}`;
}

const warning = (text: string): Issue => ({ type: "warning", text });

const withoutFirstBoot = { path: "settings/first_boot", value: "none", words: "Use no cloud-init" };

const notForType = (imageType: ImageType): Issue =>
  warning(`An image of the type ${imageType} gets no cloud-init, because it has no first boot of its own.`);

const volumesStay = warning(
  "cloud-init grows a root on a plain partition, but not the volumes (LVM): they keep their sizes on a larger disk.",
);

const decides: Partial<Record<Configuration["network"]["type"], string>> = {
  manual: "The appliance has a fixed address, and cloud-init would set one, too",
  ask_on_first_boot: "The appliance asks for its address at the first boot, and cloud-init would set one, too",
};

/** The image keeps what the appliance says, so that two programs never configure one network. */
function networkIssues({ type }: Configuration["network"]): Issue[] {
  const both = leavesNetworkToCloudInit({ type }) ? undefined : decides[type];
  if (both === undefined) return [];
  const text = `${both}: cloud-init leaves the network alone. With DHCP, the data of the first boot decides it.`;
  return [{ ...warning(text), setting: { path: "network/type", value: "dhcp", words: "Use DHCP" } }];
}
