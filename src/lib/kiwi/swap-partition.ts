import type { Configuration } from "#lib/configuration/stored";
import type { XmlNode } from "#lib/wire/read-xml";

type SwapFacts = Pick<Configuration["settings"], "swapIn" | "swapSizeMb">;

/** The size of the partition, or of the volume if the disk has LVM. 0: there is none. */
export const swapPartitionMb = ({ swapIn, swapSizeMb }: SwapFacts): number => (swapIn === "partition" ? swapSizeMb : 0);

/** The swap partition in `<oemconfig>` of KIWI's `<type>`. KIWI makes it with the image and adds it to /etc/fstab. */
export const swapElements = (settings: SwapFacts): object =>
  swapPartitionMb(settings) > 0 ? { "oem-swap": true, "oem-swapsize": swapPartitionMb(settings) } : {};

const kiwisOwnMb = 128;

/** Reads `<oemconfig>` by any author. */
export function readSwapPartition(children: readonly XmlNode[]): { swap_in?: "partition"; swap_size?: number } {
  const textOf = (name: string) => children.find((child) => child.name === name)?.text;
  if (textOf("oem-swap") !== "true") return {};
  return { swap_in: "partition", swap_size: Number(textOf("oem-swapsize") ?? kiwisOwnMb) };
}

/** Whether `readSwapPartition` reads the element. */
export const isAboutSwap = ({ name }: XmlNode): boolean => name === "oem-swap" || name === "oem-swapsize";
