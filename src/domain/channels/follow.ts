import { passedVersions } from "#domain/checks/gate";
import { compareVersions } from "#domain/version";
import { findAnyAppliance, type Appliance } from "#storage/appliances";
import { findAnyBuild } from "#storage/builds";
import { listChannels, moveChannels, type AutomaticMove, type Channel } from "#storage/channels";
import type { Database } from "#storage/db";
import { isPublished } from "#storage/publications";

/**
 * The automatic channels of the appliance whose version is older than this one. Empty if this version has not passed
 * its checks.
 */
export async function channelsToMove(db: Database, appliance: Appliance, version: string): Promise<AutomaticMove[]> {
  const behind = (await listChannels(db, appliance.id)).filter(
    (channel) => channel.isAutomatic && isNewer(version, channel),
  );
  if (behind.length === 0 || (await passedVersions(db, appliance, [version])).length === 0) return [];
  return behind.map(({ name, headId }) => ({ name, headId }));
}

/** If another move comes first, the channel is read again. More moves than this at the same time do not happen. */
const maxTries = 5;

/**
 * Moves automatic channels to the version of an image if the version is published and its checks have passed. Either may
 * happen last, so both call this. Does nothing if the channels are there already.
 */
export async function followPassed(db: Database, buildId: number): Promise<void> {
  const build = await findAnyBuild(db, buildId);
  const appliance = build && (await findAnyAppliance(db, build.applianceId));
  if (!appliance || !(await isPublished(db, appliance.id, build.version))) return;
  for (let tries = 0; tries < maxTries; tries += 1) {
    const moves = await channelsToMove(db, appliance, build.version);
    if (moves.length === 0) return;
    await moveChannels(db, { applianceId: appliance.id, moves, version: build.version });
  }
}

/** Whether the version is newer than the head of the channel. */
export const isNewer = (version: string, { version: head }: Pick<Channel, "version">): boolean =>
  head === null || compareVersions(version, head) > 0;
