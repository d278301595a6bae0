import { and, desc, eq, gt, inArray, isNull, lt, or, sql } from "drizzle-orm";
import type { Capabilities } from "#lib/contract/index";
import { entryOfAct } from "./audit-log.ts";
import type { Database } from "./db.ts";
import { agents } from "./schema.ts";

export type Agent = typeof agents.$inferSelect;

/** Undefined if the name is taken. */
export async function addAgent(db: Database, agent: { name: string; tokenHmac: string }): Promise<Agent | undefined> {
  const row = { ...agent, createdAt: new Date() };
  const [[added]] = await db.batch([
    db.insert(agents).values(row).onConflictDoNothing().returning(),
    ...entryOfAct(db),
  ]);
  return added;
}

export const findAgentByToken = (db: Database, tokenHmac: string): Promise<Agent | undefined> =>
  db.query.agents.findFirst({ where: eq(agents.tokenHmac, tokenHmac) });

export const findAgentById = (db: Database, id: number): Promise<Agent | undefined> =>
  db.query.agents.findFirst({ where: eq(agents.id, id) });

export const findAgentByName = (db: Database, name: string): Promise<Agent | undefined> =>
  db.query.agents.findFirst({ where: eq(agents.name, name) });

export const listAgents = (db: Database): Promise<Agent[]> => db.query.agents.findMany({ orderBy: agents.id });

/**
 * Agents with these ids, and the latest hundred whose rows show a call since that moment. There is no next page: the
 * caller needs one agent that can do a build, and agents that only poll update their rows once an hour.
 */
export async function listAgentsSeen(
  db: Database,
  { since, ids }: { since: Date; ids: readonly number[] },
): Promise<Agent[]> {
  const [named, seen] = await db.batch([
    db.query.agents.findMany({ where: inArray(agents.id, [...ids]) }),
    db.query.agents.findMany({
      where: gt(agents.lastSeenAt, since),
      orderBy: desc(agents.lastSeenAt),
      limit: mostSeen,
    }),
  ]);
  return [...named, ...seen];
}

const mostSeen = 100;

/** The distinct capabilities that agents have reported. The index skips from one to the next. */
export async function listAbilities(db: Database): Promise<Capabilities[]> {
  const first = sql`SELECT min(capabilities) FROM agents WHERE capabilities IS NOT NULL`;
  const next = sql`SELECT min(capabilities) FROM agents WHERE capabilities > can`;
  const kinds = sql`WITH RECURSIVE kinds (can) AS (
    ${first} UNION ALL SELECT (${next}) FROM kinds WHERE can IS NOT NULL
  ) SELECT can FROM kinds WHERE can IS NOT NULL`;
  const rows = await db.select({ can: sql<Capabilities>`can`.mapWith(agents.capabilities) }).from(sql`(${kinds})`);
  return rows.map(({ can }) => can);
}

/** The number of agents that build images and have called since that moment, at most `most`. */
export async function countBuilders(db: Database, since: Date, most: number): Promise<number> {
  const row = await db.get<{ n: number }>(sql`SELECT count(*) AS n FROM (
    SELECT 1 FROM agents WHERE last_seen_at > ${since.getTime()}
      AND json_array_length(capabilities, '$.imageTypes') > 0 LIMIT ${most})`);
  return row.n;
}

/** Drains an agent, or gives it work again if `drainedAt` is null. Returns false if there is no agent of that name. */
export async function saveDrained(db: Database, name: string, drainedAt: Date | null): Promise<boolean> {
  const [saved] = await db.batch([
    db.update(agents).set({ drainedAt }).where(eq(agents.name, name)).returning({ id: agents.id }),
    ...entryOfAct(db),
  ]);
  return saved.length > 0;
}

/** Removes an agent. Returns whether there was one of that name. */
export async function removeAgent(db: Database, name: string): Promise<boolean> {
  const [gone] = await db.batch([
    db.delete(agents).where(eq(agents.name, name)).returning({ id: agents.id }),
    ...entryOfAct(db),
  ]);
  return gone.length > 0;
}

/** Records what a starting agent can do. */
export async function saveCapabilities(db: Database, agentId: number, capabilities: Capabilities): Promise<void> {
  await db.batch([
    db.update(agents).set({ capabilities, lastSeenAt: new Date() }).where(eq(agents.id, agentId)),
    ...entryOfAct(db),
  ]);
}

/**
 * Records that an agent is alive, unless that was recorded since `before`. Only one of several simultaneous calls
 * writes.
 */
export async function noteSeen(db: Database, agentId: number, before: Date): Promise<void> {
  const isLongAgo = or(isNull(agents.lastSeenAt), lt(agents.lastSeenAt, before));
  await db
    .update(agents)
    .set({ lastSeenAt: new Date() })
    .where(and(eq(agents.id, agentId), isLongAgo));
}
