import type { Context } from "hono";
import { z } from "zod";
import { attemptHeader } from "#contract/index";
import { isTokenOf } from "#domain/builds/attempt-token";
import { buildObject } from "#domain/builds/build";
import type { AgentEnv } from "#agent-api/factory";
import { accepted, AgentRefusal } from "#agent-api/refusal";

const BuildId = z.coerce.number().int().positive();

export const buildIdOf = (c: Context<AgentEnv>): number => BuildId.parse(c.req.param("id"));

/** The token of the attempt or of the session that the call is about. */
export function attemptTokenOf(c: Context<AgentEnv>): string {
  const token = c.req.header(attemptHeader);
  if (!token) throw new AgentRefusal("invalid", `The header ${attemptHeader} is missing.`);
  return token;
}

/** The build that a call is about, and the token of the attempt that makes it: one of this agent's. */
export function attemptOf(c: Context<AgentEnv>) {
  const token = attemptTokenOf(c);
  if (!isTokenOf(c.var.agent.id, token)) throw new AgentRefusal("late");
  return { build: buildObject(c.env, buildIdOf(c)), token };
}

/** The id of the build that a call reads something of. Refused unless the caller holds its current attempt. */
export async function heldBuildId(c: Context<AgentEnv>): Promise<number> {
  const { build, token } = attemptOf(c);
  accepted(await build.checkAttempt(token));
  return buildIdOf(c);
}
