import type { ImageType } from "#lib/contract/index";
import { findAnyBuild, type Build } from "#storage/builds";
import {
  findHead,
  findVersionInChannel,
  isKnownChannel,
  type ChannelAddress,
  type OpenVersion,
} from "#storage/channels";
import type { Database } from "#storage/db";

/** The image that an address of a channel leads to, or why there is none. */
export type Found = { image: Build } | { why: string };

/**
 * The image at the head of a channel. Undefined if there is no such channel, or if its appliance is not published.
 * Others cannot tell these two cases apart.
 */
export async function imageOfChannel(
  db: Database,
  address: ChannelAddress,
  { channel, imageType }: { channel: string; imageType: ImageType | undefined },
): Promise<Found | undefined> {
  const head = await findHead(db, address, channel);
  if (!head) {
    const isKnown = await isKnownChannel(db, address, channel);
    return isKnown ? { why: `The channel ${channel} has no version at the moment.` } : undefined;
  }
  const image = await imageOf(db, head, imageType);
  if (image) return { image };
  const types = head.formats.map((format) => format.imageType).join(", ");
  return { why: `Version ${head.version} in the channel ${channel} has no such format. It has: ${types}.` };
}

/** The image of a version that is or was at the head of a channel. Undefined if there is none. */
export async function imageOfVersion(
  db: Database,
  address: ChannelAddress,
  { version, imageType }: { version: string; imageType: ImageType | undefined },
): Promise<Build | undefined> {
  const found = await findVersionInChannel(db, address, version);
  return found && (await imageOf(db, found, imageType));
}

async function imageOf(
  db: Database,
  { formats }: OpenVersion,
  imageType: ImageType | undefined,
): Promise<Build | undefined> {
  const format = formats.find((one) => one.imageType === imageType);
  return format && (await findAnyBuild(db, format.buildId));
}
