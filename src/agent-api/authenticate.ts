import type { Place } from "#domain/place";
import { partBytes } from "#contract/index";
import { findAgent } from "#domain/agent";
import { noteInPassing } from "#domain/full-disk";
import { readRest } from "#http/request-body";
import { noteSeen, type Agent } from "#storage/agents";
import { AgentRefusal } from "#agent-api/refusal";
import { factory } from "#agent-api/factory";

/** Checks an agent's bearer token: one that the operator created, or AGENT_TOKEN. */
export const authenticate = factory.createMiddleware(async (c, next) => {
  const agent = await agentOf({ env: c.env, db: c.var.db }, c.req.header("authorization"));
  if (!agent) throw new AgentRefusal("unauthorized");
  c.set("agent", agent);
  await next();
  // An agent sends a whole part before it reads that its attempt is over.
  await readRest(c, partBytes);
});

export async function agentOf({ env, db }: Place, authorization: string | undefined): Promise<Agent | undefined> {
  const token = bearerToken(authorization);
  const agent = token === undefined ? undefined : await findAgent(db, env, token);
  const before = new Date(Date.now() - noteEveryMs);
  if (agent && (agent.lastSeenAt ?? 0) < before) {
    await noteInPassing("that an agent lives", () => noteSeen(db, agent.id, before));
  }
  return agent;
}

export const bearerToken = (authorization: string | undefined): string | undefined =>
  /^bearer (\S+)$/i.exec(authorization ?? "")?.[1];

/** So that not every heartbeat writes to the database. */
const noteEveryMs = 20_000;
