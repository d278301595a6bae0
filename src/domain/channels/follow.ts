import { passedVersions } from "#domain/checks/gate";
import { compareVersions } from "#domain/version";
import { findAnyAppliance, type Appliance } from "#storage/appliances";
import { findAnyBuild } from "#storage/builds";
import { listChannels, moveChannels, type Channel } from "#storage/channels";
import type { Database } from "#storage/db";
import { isPublished } from "#storage/publications";

/**
 * The automatic channels of the appliance whose version is older than this one. Empty if this version has not passed
 * its checks.
 */
export async function channelsToMove(db: Database, appliance: Appliance, version: string): Promise<string[]> {
  const behind = (await listChannels(db, appliance.id)).filter(
    (channel) => channel.isAutomatic && isNewer(version, channel),
  );
  if (behind.length === 0 || (await passedVersions(db, appliance, [version])).length === 0) return [];
  return behind.map(({ name }) => name);
}

/** Moves channels once the checks of an image have passed, if its version is published. */
export async function followPassed(db: Database, buildId: number): Promise<void> {
  const build = await findAnyBuild(db, buildId);
  const appliance = build && (await findAnyAppliance(db, build.applianceId));
  if (!appliance || !(await isPublished(db, appliance.id, build.version))) return;
  const names = await channelsToMove(db, appliance, build.version);
  if (names.length > 0) await moveChannels(db, { applianceId: appliance.id, names, version: build.version });
}

/** Whether the version is newer than the head of the channel. */
export const isNewer = (version: string, { version: head }: Pick<Channel, "version">): boolean =>
  head === null || compareVersions(version, head) > 0;
