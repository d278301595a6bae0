import { and, asc, count, desc, eq, getTableColumns, sql } from "drizzle-orm";
import type { Arch } from "#lib/contract/index";
import { isQueued, type Build } from "./builds.ts";
import type { Database } from "./db.ts";
import { accounts, appliances, builds, testdrives } from "./schema.ts";

/** How many queued builds of all accounts come before this one. */
export async function countQueuedBefore(db: Database, buildId: number): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(builds)
    .where(
      and(isQueued, sql`(is_rebuild, id) < (SELECT is_rebuild, id FROM builds AS this WHERE this.id = ${buildId})`),
    );
  return row?.n ?? 0;
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

/** Builds of all accounts that are queued, or that agents have, oldest first. */
export const listUnended = (db: Database, status: "queued" | "running", limit: number): Promise<NamedBuild[]> =>
  withNames(db).where(eq(builds.status, status)).orderBy(asc(builds.id)).limit(limit);

/** Builds of all accounts that ended with this status, latest first. */
export const listEnded = (db: Database, status: "failed" | "error", limit: number): Promise<NamedBuild[]> =>
  withNames(db).where(eq(builds.status, status)).orderBy(desc(builds.id)).limit(limit);

/** How many builds and testdrives each agent has at the moment. */
export async function countHeld(db: Database): Promise<{ agentId: number; builds: number; testdrives: number }[]> {
  return await db.all(sql`SELECT agent_id AS agentId, sum(is_build) AS builds, sum(1 - is_build) AS testdrives FROM (
    SELECT agent_id, 1 AS is_build FROM ${builds} WHERE status = 'running'
    UNION ALL SELECT agent_id, 0 FROM ${testdrives} WHERE state IN ('new', 'running') AND agent_id IS NOT NULL
  ) GROUP BY agent_id`);
}
