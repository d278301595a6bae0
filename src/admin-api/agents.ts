import { z } from "zod";
import { factory } from "#admin-api/factory";
import { audited } from "#domain/accounts/audit";
import { createAgent, dismissAgent, setDrained } from "#domain/agent";
import { listAgentsAtWork } from "#domain/service-overview";

const nameRule =
  "An agent's name must have 1 to 63 lower-case letters, digits, dots, dashes and underscores, and start with a letter or a digit.";
const AgentRequest = z.object({ name: z.string(nameRule).regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, nameRule) });

const DrainingRequest = z.object({ draining: z.boolean() });

export const agents = factory
  .createApp()
  .get("/", async (c) => {
    const all = await listAgentsAtWork({ env: c.env, db: c.var.db });
    const agents = all.map(({ id, name, heardAt, capabilities, drainedAt, builds, testdrives, report }) => ({
      id,
      name,
      lastSeenAt: heardAt,
      capabilities,
      drainedAt,
      builds,
      testdrives,
      load: report?.load ?? null,
      freeGb: report?.freeGb ?? null,
      slots: report?.slots ?? null,
    }));
    return c.json({ agents });
  })
  .post("/", async (c) => {
    const { name } = AgentRequest.parse(await c.req.json());
    const db = audited(c.var.db, { event: "agent.registered", actor: "operator", detail: { agent: name } });
    const { agent, token } = await createAgent(db, c.env.API_KEY_PEPPER, name);
    return c.json({ id: agent.id, name: agent.name, token });
  })
  .put("/:name/draining", async (c) => {
    const { draining } = DrainingRequest.parse(await c.req.json());
    const name = c.req.param("name");
    const event = draining ? "agent.drained" : "agent.resumed";
    const db = audited(c.var.db, { event, actor: "operator", detail: { agent: name } });
    await setDrained({ env: c.env, db: c.var.db }, db, { name, isDrained: draining });
    return c.json({ draining });
  })
  .delete("/:name", async (c) => {
    const name = c.req.param("name");
    const db = audited(c.var.db, { event: "agent.removed", actor: "operator", detail: { agent: name } });
    await dismissAgent({ env: c.env, db: c.var.db }, db, name);
    return c.json({ removed: name });
  });
