import type { Context } from "hono";
import { z } from "zod";
import { testdriveObject } from "#domain/testdrives/testdrive";
import { tokenOf } from "#agent-api/attempt";
import { untimed } from "#http/request-body";
import { factory, type AgentEnv } from "#agent-api/factory";
import { AgentRefusal } from "#agent-api/refusal";

/** Requests to a guest's web server: the body of a visitor's request and the guest's answer, both as streams; or its WebSocket. */
export const visits = factory
  .createApp()
  .get("/:id/visits/:visit/body", (c) => passOn(c))
  .get("/:id/visits/:visit/socket", (c) => passOn(c))
  .post("/:id/visits/:visit/answer", (c) => passOn(c));

const Visit = z.object({
  id: z.coerce.number().int().positive(),
  visit: z.string().regex(/^[\w-]{1,64}$/),
});

/** Passes the request on to the session's object, which checks the attempt's token and joins the streams. */
async function passOn(c: Context<AgentEnv>): Promise<Response> {
  const { id, visit } = Visit.parse(c.req.param());
  const { row } = tokenOf(c, id);
  const url = `https://testdrive/visits/${visit}?agent=${c.var.agent.id}`;
  const answer = await testdriveObject(c.env, row).fetch(new Request(url, untimed(c)));
  if (answer.status === 410) throw new AgentRefusal("late", await answer.text());
  return answer;
}
