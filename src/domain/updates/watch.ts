import type { Services } from "#domain/services";
import { hasFullDisk } from "#domain/full-disk";
import { buildOutdated } from "#domain/automatic-builds/automatic-build";
import { followPassed } from "#domain/channels/follow";
import { readOnlyMode } from "#domain/service-settings";
import { compareImage, contentsOf } from "#domain/updates/of-build";
import { announceOutdated } from "#domain/updates/announce";
import { announceAdvisories } from "#domain/updates/announce-advisories";
import { rest } from "#lib/loop/pace";
import { logFailure } from "#log/log";
import { feedsVersion, listFeeds } from "#storage/advisories";
import { findAnyAppliance, listApplianceRepositories, type Appliance } from "#storage/appliances";
import type { Build } from "#storage/builds";
import type { Database } from "#storage/db";
import { forgetOtherUpdates, listImageUpdates, type ImageUpdatesRow } from "#storage/image-updates";
import { saveNextLook, takeDueWatches, type Watch } from "#storage/watches";
import type { Repository } from "#storage/repositories";
import { findNewestImage, listBuildsById, listBuildsOfVersion } from "#storage/builds-of-appliance";
import { listChannels } from "#storage/channels";

/** The wait before the next check if one failed. */
const retryMs = 60 * 60_000;
/** How many appliances one run checks. A check that begins an automatic build makes some thirty subrequests. */
const lookedAtOnce = 30;

/**
 * A chore: compares the images that people may be using with the repositories of their appliances. Accounts take turns.
 * An image is compared only if a repository has changed since the last comparison. Appliances that follow updates are
 * built again. Returns whether others are due.
 */
export async function watchImages(services: Services, now: number): Promise<boolean> {
  const { env, db } = services;
  if ((await readOnlyMode(db)).on || (await hasFullDisk(env))) return false;
  const again = new Date(now + retryMs);
  const { due, isMore } = await takeDueWatches(db, { now: new Date(now), again, limit: lookedAtOnce });
  const feeds = due.length === 0 ? 0 : feedsVersion(await listFeeds(db));
  for (const watch of due) {
    await look(services, watch, { now, feeds }).catch((error: unknown) =>
      logFailure("could not look for updates", error, { appliance: watch.applianceId }),
    );
    await rest();
  }
  return isMore;
}

async function look(services: Services, watch: Watch, { now, feeds }: { now: number; feeds: number }): Promise<void> {
  const { db } = services;
  const appliance = await findAnyAppliance(db, watch.applianceId);
  if (!appliance) return;
  const { newest, inChannels } = await watchedImagesOf(db, appliance.id);
  // A crash after the last report of its checks leaves a channel behind.
  if (newest[0]) await followPassed(db, newest[0].id);
  const images = [...newest, ...inChannels];
  const repositories = await listApplianceRepositories(db, appliance.id);
  const contents = contentsOf(repositories);
  const rows = await compareAll(services, images, { appliance, repositories, contents });
  for (const build of images) {
    const row = rows.get(build.id);
    if (!row) continue;
    await announceOutdated(services, { build, row }, now);
    await announceAdvisories(services, { build, row }, feeds, now);
  }
  await forgetOtherUpdates(
    db,
    appliance.id,
    images.map(({ id }) => id),
  );
  const next = await buildOutdated(services, { appliance, watch, newest, repositories, contents }, now);
  await saveNextLook(db, watch, new Date(next));
}

/**
 * Compares the images that have not yet been compared with the current contents of the repositories. Returns how
 * outdated each image is.
 */
async function compareAll(
  services: Services,
  images: readonly Build[],
  { appliance, repositories, contents }: { appliance: Appliance; repositories: Repository[]; contents: string },
): Promise<ReadonlyMap<number, ImageUpdatesRow>> {
  const before = await updatesOfAll(services.db, images);
  const outdated = images.filter(({ id }) => before.get(id)?.contents !== contents);
  for (const build of outdated) await compareImage(services, build, { appliance, repositories });
  return outdated.length === 0 ? before : await updatesOfAll(services.db, images);
}

async function updatesOfAll(db: Database, images: readonly Build[]): Promise<Map<number, ImageUpdatesRow>> {
  const ids = images.map(({ id }) => id);
  return new Map((await listImageUpdates(db, ids)).map((row) => [row.buildId, row]));
}

/** The images of an appliance that someone may be using: those of the newest version, and those in channels. */
interface WatchedImages {
  newest: Build[];
  inChannels: Build[];
}

async function watchedImagesOf(db: Database, applianceId: number): Promise<WatchedImages> {
  const [image, channels] = await Promise.all([findNewestImage(db, applianceId), listChannels(db, applianceId)]);
  const ids = channels.flatMap(({ formats }) => (formats ?? []).map(({ buildId }) => buildId));
  const [ofVersion, inChannels] = await Promise.all([
    image ? listBuildsOfVersion(db, applianceId, image.version) : [],
    listBuildsById(db, ids),
  ]);
  const newest = ofVersion.filter(hasImage);
  const isNew = ({ id }: Build) => !newest.some((build) => build.id === id);
  return { newest, inChannels: inChannels.filter((build) => hasImage(build) && isNew(build)) };
}

const hasImage = ({ status, expiredAt }: Build): boolean => status === "finished" && expiredAt === null;
