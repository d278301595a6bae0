import { sql } from "drizzle-orm";
import { usedBytesOf } from "./accounts.ts";
import { fromJson, type Database } from "./db.ts";
import { choreRuns } from "./schema.ts";

/** The current amounts. */
export interface Amounts {
  queuedBuilds: number;
  runningBuilds: number;
  /** When the oldest queued build was queued, in milliseconds since 1970; null if none is queued. */
  queuedSince: number | null;
  newTestdrives: number;
  runningTestdrives: number;
  waitingImports: number;
  sentImports: number;
  failedImports: number;
}

/** Reads the current amounts. Uses indexes, and reads only rows of unfinished work. */
export const readAmounts = (db: Database): Promise<Amounts> =>
  db.get<Amounts>(sql`SELECT
    (SELECT count(*) FROM builds WHERE status = 'queued') AS queuedBuilds,
    (SELECT count(*) FROM builds WHERE status = 'running') AS runningBuilds,
    (SELECT min(coalesce(requeued_at, created_at)) FROM builds WHERE status = 'queued'
      AND rebuild_of IS NULL) AS queuedSince,
    (SELECT count(*) FROM testdrives WHERE state = 'new') AS newTestdrives,
    (SELECT count(*) FROM testdrives WHERE state = 'running') AS runningTestdrives,
    (SELECT count(*) FROM import_turns WHERE sent_at IS NULL) AS waitingImports,
    (SELECT count(*) FROM import_turns WHERE sent_at IS NOT NULL) AS sentImports,
    (SELECT count(*) FROM repositories WHERE import_state = 'failed') AS failedImports`);

/** Ids of the agents that have a build or a testdrive now. */
export async function listBusyAgents(db: Database): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT agent_id AS id FROM builds WHERE status = 'running' AND agent_id IS NOT NULL
    UNION SELECT agent_id FROM testdrives WHERE state = 'running' AND agent_id IS NOT NULL`);
  return rows.map(({ id }) => id);
}

/** The sizes of both databases. On one machine they are one database. */
export async function databaseBytes(db: Database): Promise<Record<"main" | "packages", number>> {
  const [main, packages] = await Promise.all([db.run(sql`SELECT 1`), db.packages.run(sql`SELECT 1`)]);
  return { main: main.meta.size_after, packages: packages.meta.size_after };
}

export type ChoreRun = typeof choreRuns.$inferSelect;

export const listChoreRuns = (db: Database): Promise<ChoreRun[]> => db.query.choreRuns.findMany();

/** Replaces the list of chores. */
export async function saveChores(db: Database, chores: readonly string[], at: Date): Promise<void> {
  const rows = chores.map((chore) => ({ chore, succeededAt: at }));
  await db.batch([
    db.delete(choreRuns).where(sql`chore NOT IN ${fromJson(chores)}`),
    db.insert(choreRuns).values(rows).onConflictDoNothing(),
  ]);
}

export async function saveChoreSuccess(db: Database, chore: string, at: Date): Promise<void> {
  await db
    .insert(choreRuns)
    .values({ chore, succeededAt: at })
    .onConflictDoUpdate({
      target: choreRuns.chore,
      set: { succeededAt: sql`max(succeeded_at, excluded.succeeded_at)` },
    });
}

/** The stored bytes of a page of accounts, by their ids. */
export const listUsedBytes = (db: Database, { after, limit }: { after: number; limit: number }) =>
  db.all<{ id: number; bytes: number }>(
    sql`SELECT id, ${usedBytesOf(sql`accounts.id`)} AS bytes FROM accounts WHERE id > ${after} ORDER BY id LIMIT ${limit}`,
  );
