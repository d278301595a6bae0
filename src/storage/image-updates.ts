import { and, eq, inArray, sql } from "drizzle-orm";
import { ImageUpdates } from "#model/image-updates";
import type { Announced, Announcement, NewsOfImage } from "#model/announcement";
import { updatesKey } from "./blobs.ts";
import type { Build } from "./builds.ts";
import { fromJson, type Database } from "./db.ts";
import { fromNewRow, insertFrom } from "./inserts.ts";
import { eventOutbox, imageUpdates } from "./schema.ts";

/** How outdated an image is, and what was announced to its owner. */
export type ImageUpdatesRow = typeof imageUpdates.$inferSelect;

/** The result of the last comparison of an image. Undefined if there was none, or if an older Kiln stored it. */
export async function findUpdates(blobs: R2Bucket, uid: string): Promise<ImageUpdates | undefined> {
  const blob = await blobs.get(updatesKey(uid));
  return blob ? ImageUpdates.safeParse(await blob.json()).data : undefined;
}

/** Stores the list of a comparison. Its counts are stored after it. */
export async function putUpdates(blobs: R2Bucket, uid: string, found: ImageUpdates): Promise<void> {
  await blobs.put(updatesKey(uid), JSON.stringify(found), { httpMetadata: { contentType: "application/json" } });
}

/** Stores the counts of a comparison, unless the build is gone. */
export async function saveCounts(
  db: Database,
  { id }: Pick<Build, "id">,
  { contents, updates, lookedAt }: Pick<ImageUpdates, "contents" | "updates" | "lookedAt">,
): Promise<void> {
  const security = updates.filter(({ isSecurity }) => isSecurity).length;
  await insertFrom(
    db,
    imageUpdates,
    {
      buildId: id,
      applianceId: sql`appliance_id`,
      contents,
      newer: updates.length,
      security,
      lookedAt: new Date(lookedAt),
    },
    sql`FROM builds WHERE id = ${id} AND retired_at IS NULL`,
  ).onConflictDoUpdate({
    target: imageUpdates.buildId,
    set: fromNewRow(imageUpdates, ["contents", "newer", "security", "lookedAt"]),
  });
}

/** How outdated these images are. Those that were never compared are missing. */
export const listImageUpdates = (db: Database, buildIds: readonly number[]): Promise<ImageUpdatesRow[]> =>
  db.query.imageUpdates.findMany({ where: inArray(imageUpdates.buildId, fromJson(buildIds)) });

interface Decision {
  event: NewsOfImage;
  decided: Announced;
  /** Undefined if there is nothing to announce. */
  announcement: Announcement | undefined;
}

/**
 * Records that a decision about announcing something was made for an image, and stores the announcement in the outbox.
 * If another run has announced something in the meantime, nothing is written.
 */
export async function saveDecision(
  db: Database,
  { buildId, announced }: Pick<ImageUpdatesRow, "buildId" | "announced">,
  { event, decided, announcement }: Decision,
): Promise<void> {
  const path = `$."${event}"`;
  const isSame = sql`build_id = ${buildId} AND announced ->> ${`${path}.at`} IS ${announced[event]?.at ?? null}`;
  const decide = db
    .update(imageUpdates)
    .set({ announced: sql`json_set(announced, ${path}, json(${JSON.stringify(decided)}))` })
    .where(isSame);
  if (!announcement) {
    await decide;
    return;
  }
  const owner = sql`FROM image_updates JOIN builds ON builds.id = build_id WHERE ${isSame}`;
  const triedAt = new Date(announcement.at);
  await db.batch([
    insertFrom(db, eventOutbox, { accountId: sql`builds.account_id`, announcement, triedAt }, owner),
    decide,
  ]);
}

/** Forgets the counts of all other images of an appliance. */
export async function forgetOtherUpdates(
  db: Database,
  applianceId: number,
  buildIds: readonly number[],
): Promise<void> {
  await db
    .delete(imageUpdates)
    .where(and(eq(imageUpdates.applianceId, applianceId), sql`build_id NOT IN ${fromJson(buildIds)}`));
}
