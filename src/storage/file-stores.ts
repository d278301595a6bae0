import { and, inArray, isNotNull, sql } from "drizzle-orm";
import { isFileStoreKey } from "./blobs.ts";
import { isTaken } from "./builds.ts";
import { fromJson, type Database } from "./db.ts";
import { builds } from "./schema.ts";

/*
 * The formats of a version that an agent makes from one disk have the same file store. It is uploaded once, and stays
 * until no row names it. Code that deletes blobs deletes the row first, and then asks here.
 */

/**
 * Gives an unfinished build the file store of another format of its version, if that is the same file. Returns its key.
 * From then on the row names it, so that no one deletes it.
 */
export async function shareFileStore(
  db: Database,
  uid: string,
  { sha256, size }: { sha256: string; size: number },
): Promise<string | undefined> {
  // The condition of the index `builds_current`.
  const other = sql`(SELECT other.files_key FROM builds AS other
    WHERE other.appliance_id = ${builds.applianceId} AND other.version = ${builds.version}
      AND other.status = 'finished' AND other.retired_at IS NULL
      AND other.files_sha256 = ${sha256} AND other.files_size = ${size} AND other.files_key IS NOT NULL LIMIT 1)`;
  const [row] = await db
    .update(builds)
    .set({ filesKey: other })
    .where(and(sql`uid = ${uid}`, isTaken))
    .returning({ filesKey: builds.filesKey });
  return row?.filesKey ?? undefined;
}

/** Returns those of the keys that are file stores which a row names. */
export async function listNamedFileStores(db: Database, keys: string[]): Promise<Set<string>> {
  const stores = keys.filter(isFileStoreKey);
  if (stores.length === 0) return new Set();
  const rows = await db
    .selectDistinct({ key: builds.filesKey })
    .from(builds)
    .where(and(isNotNull(builds.filesKey), inArray(builds.filesKey, fromJson(stores))));
  return new Set(rows.flatMap(({ key }) => key ?? []));
}
