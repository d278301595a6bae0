import { passedVersions, refuseUnchecked } from "#domain/checks/gate";
import { isNewer } from "#domain/channels/follow";
import { Refusal } from "#domain/refusal";
import { compareVersions } from "#domain/version";
import type { Appliance } from "#storage/appliances";
import type { Build } from "#storage/builds";
import { listBuildsById } from "#storage/builds-of-appliance";
import { deleteChannel, listChannels, saveChannel, type Channel } from "#storage/channels";
import type { Database } from "#storage/db";
import { listPublishedVersions } from "#storage/publications";

/** How many channels an appliance may have. */
export const maxChannels = 8;

const nameRule = /^[a-z][a-z0-9-]{0,31}$/;

/** A channel with the images at its head. */
export interface ShownChannel extends Omit<Channel, "formats"> {
  applianceId: number;
  images: Build[];
}

/** The channels of an appliance, by name. */
export async function channelsOf(db: Database, applianceId: number): Promise<ShownChannel[]> {
  return await withImages(db, applianceId, await listChannels(db, applianceId));
}

/** Adds the images of their heads to channels that were already read. */
export async function withImages(
  db: Database,
  applianceId: number,
  found: readonly Channel[],
): Promise<ShownChannel[]> {
  if (found.length === 0) return [];
  const ids = found.flatMap(({ formats }) => (formats ?? []).map(({ buildId }) => buildId));
  const built = await listBuildsById(db, ids);
  const byId = new Map(built.map((build) => [build.id, build]));
  return found.map(({ formats, ...channel }) => ({
    ...channel,
    applianceId,
    images: (formats ?? []).flatMap(({ buildId }) => byId.get(buildId) ?? []),
  }));
}

/** The channels that have a version, so that their addresses lead to an image. */
export const openChannelsOf = async (db: Database, applianceId: number): Promise<ShownChannel[]> =>
  (await channelsOf(db, applianceId)).filter(({ version }) => version !== null);

interface Wanted {
  name: string;
  /** The published version that becomes the head. */
  version?: string | undefined;
  isAutomatic?: boolean | undefined;
}

/**
 * Creates or changes a channel. A channel that is moved back to an older version stays there, because it is then no
 * longer automatic, unless the request makes it so.
 */
export async function changeChannel(
  db: Database,
  appliance: Appliance,
  wanted: Wanted,
): Promise<Pick<Channel, "version" | "isAutomatic">> {
  const { name, version } = wanted;
  refuseWrongName(name);
  const [channels, published] = await Promise.all([
    listChannels(db, appliance.id),
    listPublishedVersions(db, appliance.id),
  ]);
  if (version !== undefined) {
    if (!published.includes(version)) throw notPublished(version);
    await refuseUnchecked(db, appliance, { version, act: "be at the head of a channel" });
  }
  const existing = channels.find((channel) => channel.name === name);
  const before = existing ?? { version: null, isAutomatic: false };
  const isBack = published.some((other) => version !== undefined && compareVersions(other, version) > 0);
  const isAutomatic = wanted.isAutomatic ?? (before.isAutomatic && !isBack);
  const head = version ?? (isAutomatic ? await newestPassed(db, appliance, { published, before }) : undefined);
  const change = { applianceId: appliance.id, name, isAutomatic, version: head, most: maxChannels };
  if (await saveChannel(db, change)) return { version: head ?? before.version, isAutomatic };
  if (!existing && channels.length >= maxChannels) throw tooMany();
  throw head === undefined ? new Refusal("invalid_appliance_id", { reason: "unknown" }) : notPublished(head);
}

export async function removeChannel(db: Database, appliance: Appliance, name: string): Promise<void> {
  if (!(await deleteChannel(db, { applianceId: appliance.id, name }))) throw noChannel(name);
}

/** The newest published version that has passed its checks, if it is newer than the channel's head. */
async function newestPassed(
  db: Database,
  appliance: Appliance,
  { published, before }: { published: readonly string[]; before: Pick<Channel, "version"> },
): Promise<string | undefined> {
  const newer = published.filter((version) => isNewer(version, before));
  return (await passedVersions(db, appliance, newer)).toSorted(compareVersions).at(-1);
}

function refuseWrongName(name: string): void {
  if (nameRule.test(name)) return;
  throw new Refusal("invalid_value", {
    message: "The name of a channel has 1 to 32 lower-case letters, digits and hyphens, and begins with a letter.",
  });
}

const notPublished = (version: string) =>
  new Refusal("version_not_published", {
    message: `Version ${version} is not published. Publish it before you move a channel to it.`,
  });

// The specification has no code for these.
const tooMany = () =>
  new Refusal("unknown_error", {
    message: `An appliance can have at most ${maxChannels} channels. Remove one of them.`,
  });

const noChannel = (name: string) =>
  new Refusal("unknown_error", { reason: "unknown", message: `The appliance has no channel ${name}.` });
