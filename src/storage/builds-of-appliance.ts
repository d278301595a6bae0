import type { ImageType } from "#lib/contract/index";
import { and, asc, desc, eq, inArray, isNull, lt, notInArray, or, sql, type SQL } from "drizzle-orm";
import { isFinished, isUnfinishedBuild, unfinished, type Build } from "./builds.ts";
import { fromJson, type Database } from "./db.ts";
import { builds } from "./schema.ts";

/*
 * An appliance that is built every night has thousands of builds. So no list reads all of them: it has a limit, or its
 * index contains nothing else.
 */

/** The maximum number of images in a list for an appliance. The account's disk quota usually allows fewer. */
const maxImages = 1000;

/** Queued and running builds, oldest first. The slots limit their number. */
export const listRunningBuilds = (db: Database, applianceId: number): Promise<Build[]> => {
  // The index of ids would give the order, but contains all builds of the appliance.
  const ids = sql`(SELECT id FROM builds INDEXED BY builds_unfinished WHERE appliance_id = ${applianceId} AND ${isUnfinishedBuild})`;
  return db.query.builds.findMany({ where: inArray(builds.id, ids), orderBy: asc(builds.id) });
};

/** Builds that have ended, newest first; with `before`, only those with a smaller id. */
export const listEndedBuilds = (
  db: Database,
  applianceId: number,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<Build[]> =>
  db.query.builds.findMany({
    where: and(
      eq(builds.applianceId, applianceId),
      notInArray(builds.status, unfinished),
      isNull(builds.retiredAt),
      before === undefined ? undefined : lt(builds.id, before),
    ),
    orderBy: desc(builds.id),
    limit,
  });

/** The newest images that can be downloaded, newest first. */
export const listImages = (db: Database, applianceId: number) =>
  db.query.builds.findMany({
    where: and(eq(builds.applianceId, applianceId), isDownloadable),
    orderBy: desc(builds.id),
    limit: maxImages,
  });

/** The newest image that can be downloaded. */
export const findNewestImage = (db: Database, applianceId: number): Promise<Build | undefined> =>
  db.query.builds.findFirst({
    where: and(eq(builds.applianceId, applianceId), isDownloadable),
    orderBy: desc(builds.id),
  });

/** Whether a build has an image. The index `builds_images` has the same condition. */
export const isDownloadable = sql.raw("status = 'finished' AND retired_at IS NULL AND expired_at IS NULL");

/** The queued, running and finished builds of a version: at most two of each type. Newest first. */
export const listBuildsOfVersion = (db: Database, applianceId: number, version: string): Promise<Build[]> => {
  const ofVersion = and(eq(builds.applianceId, applianceId), eq(builds.version, version));
  return db.query.builds.findMany({
    where: or(and(ofVersion, isFinished, isNull(builds.retiredAt)), and(ofVersion, isUnfinishedBuild)),
    orderBy: desc(builds.id),
  });
};

/** Any build of a version, for a version whose builds have all failed. It may read all builds of the appliance. */
export const findBuildOfVersion = (db: Database, applianceId: number, version: string): Promise<Build | undefined> =>
  findNewest(db, applianceId, eq(builds.version, version));

/** The newest build of a version in a format, in any state. It may read all builds of the appliance. */
export const findBuildOfFormat = (
  db: Database,
  applianceId: number,
  { version, imageType }: Pick<Build, "version" | "imageType">,
): Promise<Build | undefined> =>
  findNewest(db, applianceId, eq(builds.version, version), eq(builds.imageType, imageType));

/** The newest finished build of a type, even if its image has expired. It may read all builds of the appliance. */
export const findFinishedBuild = (
  db: Database,
  applianceId: number,
  imageType: ImageType,
): Promise<Build | undefined> => findNewest(db, applianceId, eq(builds.imageType, imageType), isFinished);

/** The newest build that is queued, running or finished. It also reads newer builds that failed. */
export const findLatestBuild = (db: Database, applianceId: number): Promise<Build | undefined> =>
  findNewest(db, applianceId, inArray(builds.status, [...unfinished, "finished"]));

const findNewest = (db: Database, applianceId: number, ...conditions: SQL[]): Promise<Build | undefined> =>
  db.query.builds.findFirst({
    where: and(eq(builds.applianceId, applianceId), ...conditions, isNull(builds.retiredAt)),
    orderBy: desc(builds.id),
  });

/** The builds with these ids, newest first. */
export const listBuildsById = (db: Database, ids: readonly number[]): Promise<Build[]> =>
  db.query.builds.findMany({
    where: and(inArray(builds.id, fromJson(ids)), isNull(builds.retiredAt)),
    orderBy: desc(builds.id),
  });
