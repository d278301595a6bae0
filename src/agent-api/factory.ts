import { createFactory } from "hono/factory";
import type { Agent } from "#storage/agents";
import type { Database } from "#storage/db";

/** What every handler of this door finds on its context. */
export type AgentEnv = { Bindings: Env; Variables: { db: Database; agent: Agent } };

export const factory = createFactory<AgentEnv>();
