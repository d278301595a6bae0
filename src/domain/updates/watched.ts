import type { Build } from "#storage/builds";
import { findNewestImage, listBuildsById, listBuildsOfVersion } from "#storage/builds-of-appliance";
import { listChannels } from "#storage/channels";
import type { Database } from "#storage/db";

/** The images of an appliance that someone may be using: those of the newest version, and those in channels. */
export interface WatchedImages {
  newest: Build[];
  inChannels: Build[];
}

export async function watchedImagesOf(db: Database, applianceId: number): Promise<WatchedImages> {
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
