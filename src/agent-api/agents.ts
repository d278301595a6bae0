import { registered } from "#agent-api/authenticate";
import { readMessage } from "#agent-api/body";
import { factory } from "#agent-api/factory";
import { AgentRefusal } from "#agent-api/refusal";
import { Hello, isServed, protocolVersion, type HelloAnswer } from "#lib/contract/index";
import { audited } from "#domain/accounts/audit";
import { endLeases } from "#domain/builds/claim";
import { switchboard } from "#domain/jobs";
import { endTestdrivesOf } from "#domain/testdrives/testdrive";
import { logEvent } from "#log/log";
import { saveCapabilities } from "#storage/agents";

export const agents = factory
  .createApp()
  .post("/hello", async (c) => {
    const { capabilities, protocol, incarnation } = await readMessage(c, Hello);
    const { db } = c.var;
    const agent = await registered(c);
    if (!isServed(protocol)) throw new AgentRefusal("too_old");

    const started = audited(db, { event: "agent.started", actor: "service", detail: { agent: agent.name } });
    await saveCapabilities(started, agent.id, capabilities);
    const { ended: endedLeases, elsewhere } = await endLeases({ env: c.env, db }, agent, incarnation);
    await endTestdrivesOf({ env: c.env, db }, agent, incarnation);
    if (elsewhere > 0) logEvent("two hosts use the same agent token", { agent: agent.name, leases: elsewhere });

    const shared = elsewhere > 0 ? { elsewhere } : {};
    const facts = { agentId: agent.id, name: agent.name, protocol: protocolVersion };
    return c.json<HelloAnswer>({ ...facts, endedLeases, ...shared });
  })
  .get("/socket", async (c) => {
    if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
      throw new AgentRefusal("invalid", "This URL supports only WebSocket.");
    }
    const { id, drainedAt } = await registered(c);
    const url = `https://switchboard/?agent=${id}${drainedAt === null ? "" : "&drained"}`;
    return await switchboard(c.env).fetch(url, { headers: { upgrade: "websocket" } });
  });
