import { and, desc, eq, isNull, sql } from "drizzle-orm";
import type { PublishedFormat } from "#model/published";
import type { Build } from "./builds.ts";
import type { Database } from "./db.ts";
import { builds, publications } from "./schema.ts";

const isImageOfPublication = sql`publications.appliance_id = ${builds.applianceId}
  AND publications.version = ${builds.version}
  AND EXISTS (SELECT 1 FROM json_each(publications.formats) AS format WHERE format.value ->> 'buildId' = ${builds.id})`;

/** Whether the image belongs to a version in the gallery. Every account may read such images. */
export const isPublishedImage = sql`EXISTS (SELECT 1 FROM publications WHERE ${isImageOfPublication})`;

/** A build whose image is published, and whether everyone may clone the version. */
export async function findPublishedImage(
  db: Database,
  id: number,
): Promise<{ build: Build; isClonable: boolean } | undefined> {
  const [found] = await db
    .select({ build: builds, isClonable: publications.publicClonable })
    .from(builds)
    .innerJoin(publications, isImageOfPublication)
    .where(and(eq(builds.id, id), eq(builds.status, "finished"), isNull(builds.retiredAt), isNull(builds.expiredAt)));
  return found;
}

/** A build of this account, of an appliance that is shared with it, or of a version in the gallery. */
export const findVisibleBuild = (db: Database, accountId: number, id: number): Promise<Build | undefined> =>
  db.query.builds.findFirst({
    where: and(
      eq(builds.id, id),
      isNull(builds.retiredAt),
      sql`(${builds.accountId} = ${accountId}
        OR EXISTS (SELECT 1 FROM shares WHERE shares.appliance_id = ${builds.applianceId} AND shares.account_id = ${accountId})
        OR ${isPublishedImage})`,
    ),
  });

/** The published versions of an appliance with their images, the latest published first. */
export const listPublishedImages = (
  db: Database,
  applianceId: number,
): Promise<{ version: string; formats: PublishedFormat[] }[]> =>
  db
    .select({ version: publications.version, formats: publications.formats })
    .from(publications)
    .where(eq(publications.applianceId, applianceId))
    .orderBy(desc(publications.id));
