import { takeBuildsFrom } from "#domain/builds/claim";
import { switchboard } from "#domain/jobs";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { keyedHash, newToken, sameSecret } from "#domain/secrets";
import { takeTestdrivesFrom } from "#domain/testdrives/testdrive";
import { addAgent, findAgentByName, findAgentByToken, removeAgent, saveDrained, type Agent } from "#storage/agents";
import type { Database } from "#storage/db";

/** The agent that holds AGENT_TOKEN; it needs no registration, so that a fresh service has one. */
const firstAgentName = "local";

/** Registers an agent. Its token is only in the result: it is not stored. */
export async function createAgent(
  db: Database,
  pepper: string,
  name: string,
): Promise<{ agent: Agent; token: string }> {
  const token = newToken();
  const agent = await addAgent(db, { name, tokenHmac: keyedHash(pepper, token) });
  if (!agent) throw new Refusal("invalid_value", { message: `There is already an agent ${name}.` });
  return { agent, token };
}

/** The agent whose token this is. */
export async function findAgent(
  db: Database,
  secrets: Pick<Env, "API_KEY_PEPPER" | "AGENT_TOKEN">,
  token: string,
): Promise<Agent | undefined> {
  const tokenHmac = keyedHash(secrets.API_KEY_PEPPER, token);
  const known = await findAgentByToken(db, tokenHmac);
  if (known || !sameSecret(token, secrets.AGENT_TOKEN)) return known;
  // Two simultaneous first calls: one inserts, the other reads that row.
  return (await addAgent(db, { name: firstAgentName, tokenHmac })) ?? (await findAgentByToken(db, tokenHmac));
}

/** "drained": the agent finishes its work and gets no more. "working": it gets work again. */
export type AgentDuty = "working" | "drained";

export async function setDuty(db: Database, name: string, duty: AgentDuty): Promise<void> {
  if (await saveDrained(db, name, duty === "drained" ? new Date() : null)) return;
  throw unknownAgent(name);
}

/**
 * Removes an agent: its token is refused, its sockets are closed, and what it works on ends or goes to others. Calls about claimed
 * work do not look for the agent, so its leases must end. Drained first, so that it claims nothing meanwhile, and if this is
 * interrupted it can be repeated.
 *
 * @param acting the same database, for the act that the audit log records
 */
export async function dismissAgent({ env, db }: Services, acting: Database, name: string): Promise<void> {
  const agent = await findAgentByName(db, name);
  if (!agent) throw unknownAgent(name);
  await saveDrained(db, name, new Date());
  await takeWorkFrom({ env, db }, agent);
  if (!(await removeAgent(acting, name))) throw unknownAgent(name);
  // A claim may have been on its way.
  await takeWorkFrom({ env, db }, agent);
  await switchboard(env).hangUp(agent.id);
}

async function takeWorkFrom(services: Services, agent: Agent): Promise<void> {
  await Promise.all([takeBuildsFrom(services, agent), takeTestdrivesFrom(services, agent)]);
}

const unknownAgent = (name: string) => new Refusal("invalid_value", { message: `There is no agent ${name}.` });
