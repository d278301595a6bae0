import { and, eq, sql } from "drizzle-orm";
import { contentKey } from "./blobs.ts";
import type { Build } from "./builds.ts";
import type { Database } from "./db.ts";
import { releaseBlobs } from "./released-blobs.ts";
import { publications } from "./schema.ts";

/** The published version with this image, if it still needs a screenshot. */
export async function findWithoutScreen(
  db: Database,
  { id, applianceId, version }: Pick<Build, "id" | "applianceId" | "version">,
): Promise<number | undefined> {
  const hasImage = sql`EXISTS (SELECT 1 FROM json_each(${publications.formats}) AS one WHERE one.value ->> 'buildId' = ${id})`;
  const [found] = await db
    .select({ id: publications.id })
    .from(publications)
    .where(
      and(
        eq(publications.applianceId, applianceId),
        eq(publications.version, version),
        eq(publications.wantsScreen, true),
        hasImage,
      ),
    );
  return found?.id;
}

export async function putScreen(blobs: R2Bucket, blobId: string, png: Uint8Array): Promise<void> {
  await blobs.put(contentKey(blobId), png);
}

/** Saves the screenshot of a version. False if the version already has one or is no longer published. */
export async function saveScreen(db: Database, publicationId: number, blobId: string): Promise<boolean> {
  const saved = await db
    .update(publications)
    .set({ screenBlob: blobId, wantsScreen: false })
    .where(and(eq(publications.id, publicationId), eq(publications.wantsScreen, true)))
    .returning({ id: publications.id });
  return saved.length > 0;
}

/** Removes the screenshot of a version. The version gets no new one. */
export async function clearScreen(
  db: Database,
  { applianceId, version }: { applianceId: number; version: string },
): Promise<void> {
  const which = and(eq(publications.applianceId, applianceId), eq(publications.version, version));
  await db.batch([
    releaseBlobs(db, {
      blobId: sql`screen_blob`,
      from: sql`FROM publications WHERE ${which} AND screen_blob IS NOT NULL`,
    }),
    db.update(publications).set({ screenBlob: null, wantsScreen: false }).where(which),
  ]);
}
