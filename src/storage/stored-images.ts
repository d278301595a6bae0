import { and, desc, eq, isNotNull, isNull, lt, lte, or, sql } from "drizzle-orm";
import { isPublishedBuild, type Build } from "./builds.ts";
import type { Database } from "./db.ts";
import { appliances, builds } from "./schema.ts";

/** The columns that identify an image in a list of all images of an account. `name` is the appliance's name. */
export const imageColumns = {
  id: builds.id,
  applianceId: builds.applianceId,
  version: builds.version,
  imageType: builds.imageType,
  completedAt: builds.completedAt,
  name: appliances.name,
};

export interface ListedImage extends Pick<Build, Exclude<keyof typeof imageColumns, "name">> {
  name: string;
}

/** An image of an account, and the bytes that it uses of the quota, including its file store and its delta. */
export interface StoredImage extends ListedImage {
  bytes: number;
  imageBytes: number;
  deltaBytes: number;
  isPublished: boolean;
}

/** The position of an image in the list of the largest. */
export type ImageCursor = Pick<StoredImage, "bytes" | "id">;

/** The images that an account stores, largest first. */
export const listStoredImages = (
  db: Database,
  accountId: number,
  { after, limit }: { after?: ImageCursor | undefined; limit: number },
): Promise<StoredImage[]> =>
  db
    .select({
      ...imageColumns,
      bytes: sql<number>`${builds.storedBytes}`,
      imageBytes: sql<number>`${builds.fileSize}`,
      deltaBytes: sql<number>`coalesce(${builds.deltaSize}, 0)`,
      isPublished: isPublishedBuild.mapWith(Boolean),
    })
    .from(builds)
    .innerJoin(appliances, eq(appliances.id, builds.applianceId))
    .where(
      and(
        eq(builds.accountId, accountId),
        isNull(builds.retiredAt),
        isNull(builds.expiredAt),
        isNotNull(builds.storedBytes),
        after && lte(builds.storedBytes, after.bytes),
        after && or(lt(builds.storedBytes, after.bytes), lt(builds.id, after.id)),
      ),
    )
    .orderBy(desc(builds.storedBytes), desc(builds.id))
    .limit(limit);
