import { createFactory } from "hono/factory";
import type { Agent } from "#storage/agents";
import type { Database } from "#storage/db";

/** The context of every handler of this door. */
export type AgentEnv = { Bindings: Env; Variables: { db: Database; agent: Agent; refused?: string } };

export const factory = createFactory<AgentEnv>();
