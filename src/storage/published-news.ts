import { asc, desc, eq } from "drizzle-orm";
import type { Database } from "./db.ts";
import { channelVersions, publications } from "./schema.ts";

/**
 * The name and the publisher of a published appliance, and the time of its first publication. Undefined if it is not
 * published.
 */
export async function findFirstPublished(db: Database, applianceId: number) {
  const [found] = await db
    .select({ name: publications.name, publisher: publications.publisher, publishedAt: publications.publishedAt })
    .from(publications)
    .where(eq(publications.applianceId, applianceId))
    .orderBy(asc(publications.id))
    .limit(1);
  return found;
}

/** The latest published versions. Does not read the large rows. */
export const listPublished = (db: Database, applianceId: number, limit: number) =>
  db
    .select({ version: publications.version, publishedAt: publications.publishedAt })
    .from(publications)
    .where(eq(publications.applianceId, applianceId))
    .orderBy(desc(publications.id))
    .limit(limit);

/** The last moves of channels to versions that are still published. */
export const listMoves = (db: Database, applianceId: number, limit: number) =>
  db
    .select({
      id: channelVersions.id,
      channel: channelVersions.channel,
      version: publications.version,
      movedAt: channelVersions.movedAt,
    })
    .from(channelVersions)
    .innerJoin(publications, eq(publications.id, channelVersions.publicationId))
    .where(eq(channelVersions.applianceId, applianceId))
    .orderBy(desc(channelVersions.movedAt), desc(channelVersions.id))
    .limit(limit);
