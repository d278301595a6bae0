import type { Services } from "#domain/services";
import type { Context } from "hono";
import { attemptHeader, partBytes } from "#lib/contract/index";
import { findAgent } from "#domain/agent";
import { agentOfBound } from "#domain/attempt-token";
import { noteInPassing } from "#domain/full-disk";
import { readRest } from "#http/request-body";
import { noteSeen, type Agent } from "#storage/agents";
import { AgentRefusal } from "#agent-api/refusal";
import { factory, type AgentEnv } from "#agent-api/factory";

/**
 * Checks an agent's bearer token: one that the operator created, or AGENT_TOKEN. A call about claimed work needs no
 * database if its two tokens belong together: the work's object refuses an agent that was removed.
 */
export const authenticate = factory.createMiddleware(async (c, next) => {
  const [bearer, attempt] = [bearerToken(c.req.header("authorization")), c.req.header(attemptHeader)];
  const isAboutWork = bearer !== undefined && attempt !== undefined;
  const holder = isAboutWork ? agentOfBound(attempt, bearer, c.env.API_KEY_PEPPER) : undefined;
  c.set("agent", holder ?? (await registered(c)));
  await next();
  // An agent sends a whole part before it reads the answer that says its attempt is over.
  await readRest(c, partBytes);
});

/**
 * The agent that makes a call about itself, or about data that outlives its leases. Refused if the operator has removed
 * the agent.
 */
export async function registered(c: Context<AgentEnv>): Promise<Agent> {
  const services = { env: c.env, db: c.var.db };
  const agent = c.var.registered ?? (await agentOf(services, c.req.header("authorization")));
  if (!agent) throw new AgentRefusal("unauthorized");
  c.set("registered", agent);
  return agent;
}

export async function agentOf({ env, db }: Services, authorization: string | undefined): Promise<Agent | undefined> {
  const token = bearerToken(authorization);
  const agent = token === undefined ? undefined : await findAgent(db, env, token);
  const before = new Date(Date.now() - noteEveryMs);
  if (agent && (agent.lastSeenAt ?? 0) < before) {
    await noteInPassing("that an agent is alive", () => noteSeen(db, agent.id, before));
  }
  return agent;
}

export const bearerToken = (authorization: string | undefined): string | undefined =>
  /^bearer (\S+)$/i.exec(authorization ?? "")?.[1];

/** Limits how often calls write to the database. */
const noteEveryMs = 20_000;
