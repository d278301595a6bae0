import type { Context } from "hono";
import { z } from "zod";
import { attemptHeader, TestdriveClaimRequest, type TestdriveClaimAnswer } from "#contract/index";
import { claimTestdrive, testdriveObject } from "#domain/testdrives/testdrive";
import { readMessage } from "#agent-api/body";
import { factory, type AgentEnv } from "#agent-api/factory";
import { AgentRefusal } from "#agent-api/refusal";

export const testdrives = factory
  .createApp()
  .post("/claim", async (c) => {
    const { vnc } = await readMessage(c, TestdriveClaimRequest);

    const claimed = await claimTestdrive(c.env, c.var.db, c.var.agent, vnc);

    return c.json<z.infer<typeof TestdriveClaimAnswer>>({ testdrive: claimed ?? null });
  })
  .get("/:id/modified", (c) => openSocket(c, "modified"))
  .post("/:id/modified/:request", (c) => bringAnswer(c, c.req.param("request")))
  .get("/:id/control", (c) => openSocket(c, "control"))
  .get("/:id/viewers/:viewer", (c) => openSocket(c, `viewer/${encodeURIComponent(c.req.param("viewer"))}`));

const TestdriveId = z.coerce.number().int().positive();

/** The session's object is the other end; it knows the attempt's token. */
async function openSocket(c: Context<AgentEnv>, side: string): Promise<Response> {
  if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
    throw new AgentRefusal("invalid", "This address speaks WebSocket alone.");
  }
  const token = c.req.header(attemptHeader);
  if (!token) throw new AgentRefusal("invalid", `The header ${attemptHeader} is missing.`);
  const url = `https://testdrive/${side}?agent=${c.var.agent.id}`;
  const headers = { upgrade: "websocket", [attemptHeader]: token };
  const answer = await testdriveObject(c.env, TestdriveId.parse(c.req.param("id"))).fetch(url, { headers });
  if (answer.status === 410) throw new AgentRefusal("late", await answer.text());
  return answer;
}

/** An answer about modified files, passed on while it arrives. */
async function bringAnswer(c: Context<AgentEnv>, request: string): Promise<Response> {
  const token = c.req.header(attemptHeader);
  if (!token) throw new AgentRefusal("invalid", `The header ${attemptHeader} is missing.`);
  const url = `https://testdrive/modified/answers/${encodeURIComponent(request)}?agent=${c.var.agent.id}`;
  const headers = new Headers(c.req.raw.headers);
  const session = testdriveObject(c.env, TestdriveId.parse(c.req.param("id")));
  const answer = await session.fetch(url, { method: "POST", headers, body: c.req.raw.body });
  if (answer.status === 410) throw new AgentRefusal("late", await answer.text());
  return new Response(null, { status: answer.status });
}
