import { takeBuildsFrom } from "#domain/builds/claim";
import { switchboard } from "#domain/jobs";
import { logFailure } from "#log/log";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { keyedHash, newToken, sameSecret } from "#domain/secrets";
import { takeTestdrivesFrom } from "#domain/testdrives/testdrive";
import { addAgent, findAgentByName, findAgentByToken, removeAgent, saveDrained, type Agent } from "#storage/agents";
import type { Database } from "#storage/db";

/** The name of the agent that holds AGENT_TOKEN. It needs no registration, so that a fresh service has an agent. */
const firstAgentName = "local";

/** Registers an agent. Its token is only in the result, and is not stored. */
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

/** Finds an agent by its token. */
export async function findAgent(
  db: Database,
  secrets: Pick<Env, "API_KEY_PEPPER" | "AGENT_TOKEN">,
  token: string,
): Promise<Agent | undefined> {
  const tokenHmac = keyedHash(secrets.API_KEY_PEPPER, token);
  const known = await findAgentByToken(db, tokenHmac);
  if (known || !sameSecret(token, secrets.AGENT_TOKEN)) return known;
  // If two first calls arrive at the same time, one inserts the row and the other reads it.
  return (await addAgent(db, { name: firstAgentName, tokenHmac })) ?? (await findAgentByToken(db, tokenHmac));
}

/**
 * Drains an agent, or gives it work again. A drained agent finishes its work and gets no more.
 *
 * @param acting the same database, for the action that the audit log records
 */
export async function setDrained(
  { env, db }: Services<Pick<Env, "SWITCHBOARD">>,
  acting: Database,
  { name, isDrained }: { name: string; isDrained: boolean },
): Promise<void> {
  const agent = await findAgentByName(db, name);
  if (!agent || !(await saveDrained(acting, name, isDrained ? new Date() : null))) throw unknownAgent(name);
  // A drained agent gets no work in any case, but would be woken needlessly.
  await Promise.resolve(switchboard(env).setDrained(agent.id, isDrained)).catch((error: unknown) =>
    logFailure("could not report a drained agent to the pool", error, { agent: name }),
  );
}

/**
 * Removes an agent: its token is refused, its sockets are closed, and its work ends or is given to other agents. Calls
 * about claimed work do not look up the agent, so its leases must end. The agent is drained first, so that it claims
 * nothing in the meantime. An interrupted removal can be repeated.
 *
 * @param acting the same database, for the action that the audit log records
 */
export async function dismissAgent({ env, db }: Services, acting: Database, name: string): Promise<void> {
  const agent = await findAgentByName(db, name);
  if (!agent) throw unknownAgent(name);
  await saveDrained(db, name, new Date());
  await takeWorkFrom({ env, db }, agent);
  // Done before the row is deleted: after an interruption, the call could not be repeated without the row.
  await switchboard(env).hangUp(agent.id);
  if (!(await removeAgent(acting, name))) throw unknownAgent(name);
  // Repeated, because a claim or a new connection may have been in progress.
  await takeWorkFrom({ env, db }, agent);
  await switchboard(env).hangUp(agent.id);
}

async function takeWorkFrom(services: Services, agent: Agent): Promise<void> {
  await Promise.all([takeBuildsFrom(services, agent), takeTestdrivesFrom(services, agent)]);
}

const unknownAgent = (name: string) => new Refusal("invalid_value", { message: `There is no agent ${name}.` });
