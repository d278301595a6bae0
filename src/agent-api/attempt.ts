import type { Context } from "hono";
import { z } from "zod";
import { attemptHeader } from "#lib/contract/index";
import { rowOfToken, unbound } from "#domain/attempt-token";
import { buildObject } from "#domain/builds/build";
import { findBuildByUid, type Build } from "#storage/builds";
import type { AgentEnv } from "#agent-api/factory";
import { accepted, AgentRefusal } from "#agent-api/refusal";

const BuildId = z.coerce.number().int().positive();

const buildIdOf = (c: Context<AgentEnv>): number => BuildId.parse(c.req.param("id"));

/** The build that a call is about, and the token of the attempt, which must be this agent's. */
export function attemptOf(c: Context<AgentEnv>) {
  const { token, row } = tokenOf(c, buildIdOf(c));
  return { build: buildObject(c.env, row), uid: row.uid, token };
}

/** The token of an attempt at the build or testdrive with this id, and the row that the token names. */
export function tokenOf(c: Context<AgentEnv>, id: number) {
  const sent = c.req.header(attemptHeader);
  if (!sent) throw new AgentRefusal("invalid", `The header ${attemptHeader} is missing.`);
  const token = unbound(sent);
  const row = rowOfToken(token, { agentId: c.var.agent.id, id });
  if (!row) throw new AgentRefusal("late");
  return { token, row };
}

/** The build whose data a call reads. Refuses a caller that does not hold the current attempt. */
export async function heldBuild(c: Context<AgentEnv>): Promise<Build> {
  const { build, uid, token } = attemptOf(c);
  accepted(await build.checkAttempt(token));
  const row = await findBuildByUid(c.var.db, uid);
  if (!row) throw new AgentRefusal("late");
  return row;
}
