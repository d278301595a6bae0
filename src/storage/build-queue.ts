import { and, asc, desc, eq, getTableColumns, isNull, sql } from "drizzle-orm";
import type { Arch } from "#lib/contract/index";
import type { Build } from "./builds.ts";
import type { Database } from "./db.ts";
import { accounts, appliances, builds, testdrives } from "./schema.ts";

/**
 * The place of a queued build. Background builds come last. Otherwise builds with a lower turn come first, and older
 * ones among equal turns.
 */
export interface PlaceInQueue {
  isBackground: boolean;
  /** The number of this build among its account's builds of the same kind, queued and running. */
  turn: number;
  id: number;
}

/** All unfinished builds with their turns, so that accounts take turns no matter how much they have queued. */
const turns = sql`(SELECT id, status, is_background,
    row_number() OVER (PARTITION BY account_id, is_background ORDER BY status = 'queued', id) AS turn
  FROM ${builds} WHERE status IN ('queued', 'running'))`;

/** Queued builds with the architecture of their appliance, in the order of the queue, from its start or after a place. */
export async function listQueued(
  db: Database,
  { after, limit }: { after?: PlaceInQueue | undefined; limit: number },
): Promise<{ build: Build; arch: Arch; place: PlaceInQueue }[]> {
  const { isBackground, turn, id } = after ?? { isBackground: false, turn: 0, id: 0 };
  const next = db
    .select({ id: sql<number>`id`.as("next_id"), turn: sql<number>`turn`.as("turn") })
    .from(sql`${turns} AS t`)
    .where(sql`t.status = 'queued' AND (t.is_background, t.turn, t.id) > (${Number(isBackground)}, ${turn}, ${id})`)
    .orderBy(sql`t.is_background, t.turn, t.id`)
    .limit(limit)
    .as("next");
  const rows = await db
    .select({ build: builds, arch: appliances.arch, turn: next.turn })
    .from(next)
    .innerJoin(builds, eq(builds.id, next.id))
    .innerJoin(appliances, eq(appliances.id, builds.applianceId))
    .orderBy(builds.isBackground, sql`turn, next_id`);
  return rows.map((row) => ({ ...row, place: { ...row.build, turn: row.turn } }));
}

/** The number of queued builds, of all accounts, before this one. */
export async function countQueuedBefore(db: Database, buildId: number): Promise<number> {
  const row = await db.get<{ n: number }>(sql`WITH t AS MATERIALIZED ${turns}
    SELECT count(*) AS n FROM t JOIN t AS mine ON mine.id = ${buildId}
    WHERE t.status = 'queued' AND (t.is_background, t.turn, t.id) < (mine.is_background, mine.turn, mine.id)`);
  return row.n;
}

/** A build with the names of its appliance and its account. */
export interface NamedBuild extends Build {
  name: string;
  arch: Arch;
  username: string;
}

const named = { ...getTableColumns(builds), name: appliances.name, arch: appliances.arch, username: accounts.username };

const withNames = (db: Database) =>
  db
    .select(named)
    .from(builds)
    .innerJoin(appliances, eq(appliances.id, builds.applianceId))
    .innerJoin(accounts, eq(accounts.id, builds.accountId));

/** Builds of all accounts that are queued or running, oldest first. */
export const listUnended = (db: Database, status: "queued" | "running", limit: number): Promise<NamedBuild[]> =>
  withNames(db).where(eq(builds.status, status)).orderBy(asc(builds.id)).limit(limit);

/**
 * Builds of all accounts that ended with this status, latest first. Rebuilds are not included: they cannot be started
 * again.
 */
export const listEnded = (db: Database, status: "failed" | "error", limit: number): Promise<NamedBuild[]> =>
  withNames(db)
    .where(and(eq(builds.status, status), isNull(builds.rebuildOf)))
    .orderBy(desc(builds.id))
    .limit(limit);

/** How many builds and testdrives each agent has now. */
export async function countHeld(db: Database): Promise<{ agentId: number; builds: number; testdrives: number }[]> {
  return await db.all(sql`SELECT agent_id AS agentId, sum(is_build) AS builds, sum(1 - is_build) AS testdrives FROM (
    SELECT agent_id, 1 AS is_build FROM ${builds} WHERE status = 'running'
    UNION ALL SELECT agent_id, 0 FROM ${testdrives} WHERE state IN ('new', 'running') AND agent_id IS NOT NULL
  ) GROUP BY agent_id`);
}
