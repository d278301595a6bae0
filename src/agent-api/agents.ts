import { readMessage } from "#agent-api/body";
import { factory } from "#agent-api/factory";
import { AgentRefusal } from "#agent-api/refusal";
import { Hello, isServed, protocolVersion, type HelloAnswer } from "#contract/index";
import { audited } from "#domain/accounts/audit";
import { endLeases } from "#domain/builds/claim";
import { switchboard } from "#domain/jobs";
import { endTestdrivesOf } from "#domain/testdrives/testdrive";
import { saveCapabilities } from "#storage/agents";

export const agents = factory
  .createApp()
  .post("/hello", async (c) => {
    const { capabilities, protocol } = await readMessage(c, Hello);
    const { agent, db } = c.var;
    if (!isServed(protocol)) throw new AgentRefusal("too_old");

    const started = audited(db, { event: "agent.started", actor: "service", detail: { agent: agent.name } });
    await saveCapabilities(started, agent.id, capabilities);
    const endedLeases = await endLeases({ env: c.env, db }, agent);
    await endTestdrivesOf({ env: c.env, db }, agent);

    return c.json<HelloAnswer>({ agentId: agent.id, name: agent.name, endedLeases, protocol: protocolVersion });
  })
  .get("/socket", async (c) => {
    if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
      throw new AgentRefusal("invalid", "This URL supports only WebSocket.");
    }
    const url = `https://switchboard/?agent=${c.var.agent.id}`;
    return await switchboard(c.env).fetch(url, { headers: { upgrade: "websocket" } });
  });
