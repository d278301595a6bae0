import { sql } from "drizzle-orm";
import { type Appliance, type ApplianceLimits, deleteRefusedClone, type NewAppliance } from "./appliances.ts";
import type { Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { copiedFile } from "./overlay-files.ts";
import { applianceRepositories, appliances, gpgKeys, overlayFiles, selections } from "./schema.ts";
import { keyInJson } from "./gpg-keys.ts";
import { selectionInJson } from "./selections.ts";

/**
 * Writes a clone of a published version, as it was published, in one batch. Includes those of its repositories that the
 * clone's owner may see. Undefined if the version was unpublished in the meantime or a limit is reached; then nothing
 * was written.
 */
export async function savePublishedClone(
  db: Database,
  clone: NewAppliance,
  { publicationId, most }: { publicationId: number; most: ApplianceLimits },
): Promise<Appliance | undefined> {
  const source = {
    isThere: sql`EXISTS (SELECT 1 FROM publications WHERE id = ${publicationId})`,
    files: sql`(SELECT count(*) FROM published_files WHERE publication_id = ${publicationId})`,
  };
  const cloneId = sql`(SELECT id FROM appliances WHERE uuid = ${clone.uuid})`;
  const published = (list: string) =>
    sql`json_each((SELECT definition -> ${`$.${list}`} FROM publications WHERE id = ${publicationId})) AS one`;
  const [added, refused] = await db.batch([
    db.insert(appliances).values(clone).returning(),
    deleteRefusedClone(db, clone, { source, most }),
    insertFrom(
      db,
      applianceRepositories,
      { applianceId: cloneId, repositoryId: sql`repositories.id`, position: sql`one.key` },
      sql`FROM ${published("repositoryIds")} JOIN repositories ON repositories.id = one.value
          WHERE ${cloneId} IS NOT NULL
            AND (repositories.account_id IS NULL OR repositories.account_id = ${clone.accountId ?? null}) ORDER BY one.key`,
    ),
    insertFrom(
      db,
      selections,
      { applianceId: cloneId, ...selectionInJson },
      sql`FROM ${published("selection")} WHERE ${cloneId} IS NOT NULL ORDER BY one.key`,
    ),
    insertFrom(
      db,
      overlayFiles,
      { applianceId: cloneId, ...copiedFile },
      sql`FROM published_files WHERE publication_id = ${publicationId} AND ${cloneId} IS NOT NULL ORDER BY position`,
    ),
    insertFrom(
      db,
      gpgKeys,
      { applianceId: cloneId, ...keyInJson, createdAt: new Date() },
      sql`FROM ${published("gpgKeys")} WHERE ${cloneId} IS NOT NULL ORDER BY one.key`,
    ),
  ]);
  return refused.length > 0 ? undefined : added[0];
}
