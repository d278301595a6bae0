import { and, desc, eq, sql } from "drizzle-orm";
import { entryOfAct } from "./audit-log.ts";
import { movedTo, type AutomaticMove } from "./channels.ts";
import type { Database } from "./db.ts";
import type { OutboxEvent } from "./events.ts";
import { relisted } from "./gallery-listings.ts";
import { insertFrom, insertWhere } from "./inserts.ts";
import { copiedFile } from "./overlay-files.ts";
import { releaseBlobs } from "./released-blobs.ts";
import { channelVersions, eventOutbox, publications, publishedFiles } from "./schema.ts";

/** The whole row of a published version. */
export type Publication = typeof publications.$inferSelect;
export type NewPublication = Omit<Publication, "id" | "formats" | "screenBlob" | "wantsScreen" | "isLogged">;

/** Whether the version, or any version, is in the gallery. Does not read the large row. */
export async function isPublished(db: Database, applianceId: number, version?: string): Promise<boolean> {
  const rows = await db
    .select({ id: publications.id })
    .from(publications)
    .where(published(applianceId, version))
    .limit(1);
  return rows.length > 0;
}

/** The given published version, or the one that was published last. */
export const findPublication = (
  db: Database,
  applianceId: number,
  version?: string,
): Promise<Publication | undefined> =>
  db.query.publications.findFirst({
    where: published(applianceId, version),
    orderBy: desc(publications.id),
  });

/** The account that has published the version. Does not read the large row. */
export async function findPublisher(db: Database, applianceId: number, version: string): Promise<number | undefined> {
  const [found] = await db
    .select({ accountId: publications.accountId })
    .from(publications)
    .where(published(applianceId, version));
  return found?.accountId;
}

/** The published versions of an appliance, in any order. */
export async function listPublishedVersions(db: Database, applianceId: number): Promise<string[]> {
  const rows = await publishedVersions(db, applianceId);
  return rows.map(({ version }) => version);
}

/** The published versions, as a statement for a batch. */
export const publishedVersions = (db: Database, applianceId: number) =>
  db.select({ version: publications.version }).from(publications).where(eq(publications.applianceId, applianceId));

interface Published {
  announcement: OutboxEvent["announcement"];
  /** The automatic channels that take the version. */
  moves: readonly AutomaticMove[];
  /** When the appliance was last edited before the row was made of it. */
  editedAt: Date;
}

/**
 * Publishes a version with all of its images and its appliance's current overlay files, and moves these channels to it.
 * The announcement waits in the outbox. Undefined if the version is already published, has no image or is being built,
 * or if its appliance is gone or has been edited since; then nothing was written.
 */
export async function addPublication(
  db: Database,
  row: NewPublication,
  { announcement, moves, editedAt }: Published,
): Promise<{ publication: Publication; event: OutboxEvent } | undefined> {
  const { applianceId, version, uuid } = row;
  const ofVersion = sql`appliance_id = ${applianceId} AND version = ${version} AND retired_at IS NULL`;
  const images = sql`SELECT id, image_type, md5 FROM builds
    WHERE ${ofVersion} AND status = 'finished' AND expired_at IS NULL ORDER BY id`;
  const [[publication], , [event]] = await db.batch([
    insertWhere(
      db,
      publications,
      {
        ...row,
        formats: sql`(SELECT json_group_array(json_object('buildId', id, 'imageType', image_type, 'md5', md5))
                      FROM (${images}))`,
      },
      sql`EXISTS (${images})
          AND EXISTS (SELECT 1 FROM appliances WHERE id = ${applianceId} AND account_id = ${row.accountId}
            AND last_edited_at = ${editedAt.getTime()})
          AND NOT EXISTS (SELECT 1 FROM builds WHERE ${ofVersion} AND status IN ('queued', 'running'))`,
    )
      .onConflictDoNothing()
      .returning(),
    insertFrom(
      db,
      publishedFiles,
      { publicationId: sql`publications.id`, position: sql`overlay_files.id`, ...copiedFile },
      sql`FROM publications JOIN overlay_files ON overlay_files.appliance_id = publications.appliance_id
          WHERE publications.uuid = ${uuid}`,
    ),
    insertFrom(
      db,
      eventOutbox,
      { accountId: sql`account_id`, announcement, triedAt: row.publishedAt },
      sql`FROM publications WHERE uuid = ${uuid}`,
    ).returning(),
    ...relisted(db, applianceId),
    ...movedTo(db, { moves, publication: sql`uuid = ${uuid}`, now: row.publishedAt }),
    ...entryOfAct(db, { when: sql`EXISTS (SELECT 1 FROM publications WHERE uuid = ${uuid})` }),
  ]);
  return publication && event && { publication, event };
}

/** The publication that was created by a request. */
export const findPublicationByUuid = (db: Database, uuid: string): Promise<Publication | undefined> =>
  db.query.publications.findFirst({ where: eq(publications.uuid, uuid) });

/** Undefined if the version is not published. */
export async function saveReleaseNotes(
  db: Database,
  { applianceId, version }: { applianceId: number; version: string },
  releaseNotes: string,
): Promise<Publication | undefined> {
  const [changed] = await db
    .update(publications)
    .set({ releaseNotes })
    .where(published(applianceId, version))
    .returning();
  return changed;
}

/** Removes a version from the gallery and releases the blobs that it named. False if the version is not published. */
export async function deletePublication(db: Database, applianceId: number, version: string): Promise<boolean> {
  const gone = sql`(SELECT id FROM publications WHERE appliance_id = ${applianceId} AND version = ${version})`;
  const [, , , deleted] = await db.batch([
    releaseBlobs(db, {
      blobId: sql`blob_id`,
      from: sql`FROM (
          SELECT blob_id FROM published_files WHERE publication_id IN ${gone}
          UNION SELECT logo_blob FROM publications WHERE id IN ${gone}
          UNION SELECT background_blob FROM publications WHERE id IN ${gone}
          UNION SELECT screen_blob FROM publications WHERE id IN ${gone}
        ) WHERE blob_id IS NOT NULL`,
    }),
    db.delete(publishedFiles).where(sql`publication_id IN ${gone}`),
    db.delete(channelVersions).where(sql`publication_id IN ${gone}`),
    db.delete(publications).where(published(applianceId, version)).returning({ id: publications.id }),
    ...entryOfAct(db),
    ...relisted(db, applianceId),
  ]);
  return deleted.length > 0;
}

const published = (applianceId: number, version?: string) =>
  and(eq(publications.applianceId, applianceId), version === undefined ? undefined : eq(publications.version, version));
