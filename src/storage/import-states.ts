import { and, eq, sql } from "drizzle-orm";
import type { ImportProgress } from "#model/import-progress";
import type { Database } from "./db.ts";
import type { StoredRepository } from "./repositories.ts";
import { keptState } from "./repository-states.ts";
import { repositories } from "./schema.ts";

/**
 * Marks the beginning of an import, and returns the repository, whose contents this import will replace. From now on,
 * no import that began earlier can change it.
 */
export async function beginImport(
  db: Database,
  id: number,
  { checkId, startedAt }: { checkId: string; startedAt: Date },
): Promise<StoredRepository | undefined> {
  const [begun] = await db
    .update(repositories)
    .set({ checkId, checkedAt: startedAt, importState: "importing", importProgress: null })
    .where(eq(repositories.id, id))
    .returning();
  return begun;
}

/** Stores the progress of an import, unless a later one has begun. */
export async function noteProgress(
  db: Database,
  id: number,
  { checkId, progress }: { checkId: string; progress: ImportProgress },
): Promise<void> {
  await db.update(repositories).set({ importProgress: progress }).where(isLast(id, checkId));
}

/** The columns that the end of every import sets. */
const ended = { importProgress: null };

/** The facts that an import has determined. */
export type ImportResult = Pick<
  StoredRepository,
  | "type"
  | "arches"
  | "baseSystem"
  | "revision"
  | "importId"
  | "snapshotUrl"
  | "parts"
  | "packageCount"
  | "packagesFolder"
  | "signer"
  | "signingKeys"
  | "indexTag"
>;

/**
 * Shows the new revision, unless a later import has begun or the contents were removed. Returns whether it is now
 * shown.
 */
export async function switchRevision(
  db: Database,
  id: number,
  checkId: string,
  result: ImportResult & { importId: string },
): Promise<boolean> {
  const now = new Date();
  const done = { ...result, ...ended, importState: "ready" as const, importedAt: now, problem: null };
  const isMade = sql`EXISTS (SELECT 1 FROM imports WHERE imports.id = ${result.importId} AND made_at IS NOT NULL)`;
  const [, switched] = await db.batch([
    keptState(db, { now, when: sql`id = ${id} AND check_id = ${checkId} AND ${isMade}` }),
    db
      .update(repositories)
      .set(done)
      .where(and(isLast(id, checkId), isMade))
      .returning({ id: repositories.id }),
  ]);
  return switched.length > 0;
}

/** Records that the index has not changed since the last good import. Its signature may be new. */
export async function confirmRevision(
  db: Database,
  id: number,
  { checkId, ...found }: { checkId: string } & Pick<ImportResult, "indexTag" | "signer" | "signingKeys">,
): Promise<void> {
  await db
    .update(repositories)
    .set({ ...found, ...ended, importState: "ready", problem: null })
    .where(isLast(id, checkId));
}

/** Records a failed import. The last good revision stays, and `problem` is the reason. */
export async function failImport(
  db: Database,
  id: number,
  { checkId, problem, indexTag }: { checkId: string; problem: string; indexTag: string | null },
): Promise<void> {
  await db
    .update(repositories)
    .set({ ...ended, importState: sql`CASE WHEN revision IS NULL THEN 'failed' ELSE 'ready' END`, problem, indexTag })
    .where(isLast(id, checkId));
}

const isLast = (id: number, checkId: string) => and(eq(repositories.id, id), eq(repositories.checkId, checkId));
