import { createFactory } from "hono/factory";
import type { Agent } from "#storage/agents";
import type { Database } from "#storage/db";

/** The context of every handler of this entry point. `registered` is the agent's row, if the call needed it. */
export type AgentEnv = {
  Bindings: Env;
  Variables: { db: Database; agent: Pick<Agent, "id">; registered?: Agent; refused?: string };
};

export const factory = createFactory<AgentEnv>();
