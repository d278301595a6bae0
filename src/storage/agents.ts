import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { Capabilities } from "#contract/index";
import type { Database } from "./db.ts";
import { agents } from "./schema.ts";

export type Agent = typeof agents.$inferSelect;

/** Undefined if the name is taken. */
export async function addAgent(db: Database, agent: { name: string; tokenHmac: string }): Promise<Agent | undefined> {
  const row = { ...agent, createdAt: new Date() };
  const [added] = await db.insert(agents).values(row).onConflictDoNothing().returning();
  return added;
}

export const findAgentByToken = (db: Database, tokenHmac: string): Promise<Agent | undefined> =>
  db.query.agents.findFirst({ where: eq(agents.tokenHmac, tokenHmac) });

export const findAgentById = (db: Database, id: number): Promise<Agent | undefined> =>
  db.query.agents.findFirst({ where: eq(agents.id, id) });

export const listAgents = (db: Database): Promise<Agent[]> => db.query.agents.findMany({ orderBy: agents.id });

/** Whether there was one of that name. */
export async function removeAgent(db: Database, name: string): Promise<boolean> {
  const gone = await db.delete(agents).where(eq(agents.name, name)).returning({ id: agents.id });
  return gone.length > 0;
}

/** Notes what a starting agent can do. */
export async function saveCapabilities(db: Database, agentId: number, capabilities: Capabilities): Promise<void> {
  await db.update(agents).set({ capabilities, lastSeenAt: new Date() }).where(eq(agents.id, agentId));
}

/** That it is alive, unless that was noted after `before`: of several simultaneous calls, one writes. */
export async function noteSeen(db: Database, agentId: number, before: Date): Promise<void> {
  const isLongAgo = or(isNull(agents.lastSeenAt), lt(agents.lastSeenAt, before));
  await db
    .update(agents)
    .set({ lastSeenAt: new Date() })
    .where(and(eq(agents.id, agentId), isLongAgo));
}
