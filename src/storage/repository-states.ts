import { and, gt, inArray, lt, sql, type SQL } from "drizzle-orm";
import { fromJson, type Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { repositories, repositoryStates } from "./schema.ts";

/** The contents of a repository before one of its imports. */
export type RepositoryState = typeof repositoryStates.$inferSelect;

const dayMs = 24 * 60 * 60_000;
const column = (name: keyof typeof repositories._.columns): SQL => sql`${repositories[name]}`;

/**
 * Stores the current contents of a catalogue's repository, if the repository showed them at midnight: a statement for
 * the batch that replaces them. `when` selects the repository.
 */
export const keptState = (db: Database, { now, when }: { now: Date; when: SQL }) =>
  insertFrom(
    db,
    repositoryStates,
    {
      repositoryId: column("id"),
      importId: column("importId"),
      revision: column("revision"),
      parts: column("parts"),
      packagesFolder: column("packagesFolder"),
      snapshotUrl: column("snapshotUrl"),
      signer: column("signer"),
      signingKeys: column("signingKeys"),
      importedAt: column("importedAt"),
      replacedAt: now,
    },
    sql`FROM repositories WHERE ${when} AND catalogue IS NOT NULL AND import_id IS NOT NULL
      AND imported_at / ${dayMs} < ${Math.floor(now.getTime() / dayMs)}`,
  );

/** The states of these repositories that were replaced after that moment. */
export const listStates = (db: Database, repositoryIds: number[], after: Date): Promise<RepositoryState[]> =>
  db.query.repositoryStates.findMany({
    where: and(inArray(repositoryStates.repositoryId, fromJson(repositoryIds)), gt(repositoryStates.replacedAt, after)),
  });

/** Deletes states that were replaced before that moment. The sweep then removes their files. */
export async function removeStates(db: Database, before: Date): Promise<void> {
  await db.delete(repositoryStates).where(lt(repositoryStates.replacedAt, before));
}
