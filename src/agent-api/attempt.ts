import type { Context } from "hono";
import { z } from "zod";
import { attemptHeader } from "#contract/index";
import { buildObject } from "#domain/builds/build";
import type { AgentEnv } from "#agent-api/factory";
import { AgentRefusal } from "#agent-api/refusal";

const BuildId = z.coerce.number().int().positive();

export const buildIdOf = (c: Context<AgentEnv>): number => BuildId.parse(c.req.param("id"));

/** The build that a call is about, and the token of the attempt that makes it. */
export function attemptOf(c: Context<AgentEnv>) {
  const token = c.req.header(attemptHeader);
  if (!token) throw new AgentRefusal("invalid", `The header ${attemptHeader} is missing.`);
  return { build: buildObject(c.env, buildIdOf(c)), token };
}
