import { z } from "zod";
import { factory } from "#admin-api/factory";
import { audited } from "#domain/accounts/audit";
import { createAgent } from "#domain/agent";
import { switchboard } from "#domain/jobs";
import { Refusal } from "#domain/refusal";
import { listAgents, removeAgent } from "#storage/agents";

const nameRule =
  "An agent's name has 1 to 63 lower-case letters, digits, dots, dashes and underscores, and starts with a letter or a digit.";
const AgentRequest = z.object({ name: z.string(nameRule).regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, nameRule) });

export const agents = factory
  .createApp()
  .get("/", async (c) => {
    const [all, heard] = await Promise.all([listAgents(c.var.db), switchboard(c.env).heard()]);
    const agents = all.map(({ id, name, lastSeenAt, capabilities }) => {
      const times = heard.filter(({ agentId }) => agentId === id).map(({ at }) => at.getTime());
      const latest = Math.max(lastSeenAt?.getTime() ?? 0, ...times);
      return { id, name, lastSeenAt: latest === 0 ? null : new Date(latest), capabilities };
    });
    return c.json({ agents });
  })
  .post("/", async (c) => {
    const { name } = AgentRequest.parse(await c.req.json());
    const db = audited(c.var.db, { event: "agent.registered", actor: "operator", detail: { agent: name } });
    const { agent, token } = await createAgent(db, c.env.API_KEY_PEPPER, name);
    return c.json({ id: agent.id, name: agent.name, token });
  })
  .delete("/:name", async (c) => {
    const name = c.req.param("name");
    const db = audited(c.var.db, { event: "agent.removed", actor: "operator", detail: { agent: name } });
    if (!(await removeAgent(db, name))) {
      throw new Refusal("invalid_value", { message: `There is no agent ${name}.` });
    }
    return c.json({ removed: name });
  });
