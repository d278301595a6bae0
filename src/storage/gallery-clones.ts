import { sql } from "drizzle-orm";
import { type Appliance, type ApplianceLimits, deleteRefusedClone, type NewAppliance } from "./appliances.ts";
import type { Database } from "./db.ts";
import { applianceRepositories, appliances, gpgKeys, overlayFiles, selections } from "./schema.ts";

/**
 * Writes a clone of a published version as it was published, in one batch: of its repositories those that the clone's
 * owner may see. Undefined: it was unpublished in between, or a limit is reached, and nothing was written.
 */
export async function savePublishedClone(
  db: Database,
  clone: NewAppliance,
  { publicationId, most }: { publicationId: number; most: ApplianceLimits },
): Promise<Appliance | undefined> {
  const hasSource = sql`EXISTS (SELECT 1 FROM publications WHERE id = ${publicationId})`;
  const cloneId = sql`(SELECT id FROM appliances WHERE uuid = ${clone.uuid})`;
  const published = (list: string) =>
    sql`json_each((SELECT definition -> ${`$.${list}`} FROM publications WHERE id = ${publicationId})) AS one`;
  const [added, refused] = await db.batch([
    db.insert(appliances).values(clone).returning(),
    deleteRefusedClone(db, clone, { hasSource, most }),
    db.insert(applianceRepositories).select(
      sql`SELECT ${cloneId}, repositories.id, one.key FROM ${published("repositoryIds")}
          JOIN repositories ON repositories.id = one.value
          WHERE ${cloneId} IS NOT NULL
            AND (repositories.account_id IS NULL OR repositories.account_id = ${clone.accountId ?? null}) ORDER BY one.key`,
    ),
    db.insert(selections).select(
      sql`SELECT NULL, ${cloneId}, one.value ->> 'kind', one.value ->> 'name', one.value ->> 'version',
            one.value ->> 'repositoryId'
          FROM ${published("selection")} WHERE ${cloneId} IS NOT NULL ORDER BY one.key`,
    ),
    db.insert(overlayFiles).select(
      sql`SELECT NULL, ${cloneId}, file_name, path, owner, group_name, permissions, enabled, size, md5, sha256, blob_id, created_at, NULL
          FROM published_files WHERE publication_id = ${publicationId} AND ${cloneId} IS NOT NULL ORDER BY position`,
    ),
    db.insert(gpgKeys).select(
      sql`SELECT NULL, ${cloneId}, one.value ->> 'name', one.value ->> 'target', one.value ->> 'fingerprint',
            one.value ->> 'key', ${Date.now()}, NULL
          FROM ${published("gpgKeys")} WHERE ${cloneId} IS NOT NULL ORDER BY one.key`,
    ),
  ]);
  return refused.length > 0 ? undefined : added[0];
}
