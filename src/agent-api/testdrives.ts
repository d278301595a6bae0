import type { Context } from "hono";
import { z } from "zod";
import {
  attemptHeader,
  CheckReport,
  maxScreenBytes,
  TestdriveClaimRequest,
  type TestdriveClaimAnswer,
} from "#lib/contract/index";
import { openReference } from "#domain/checks/reference";
import { acceptReport } from "#domain/checks/report";
import { checkSessions } from "#domain/checks/session";
import { keepScreen } from "#domain/gallery/screen";
import { openerFor } from "#domain/operation/downloads";
import { claimTestdrive, testdriveObject } from "#domain/testdrives/testdrive";
import { answerImage } from "#http/image";
import { untimed } from "#http/request-body";
import { findAnyBuild } from "#storage/builds";
import { tokenOf } from "#agent-api/attempt";
import { registered } from "#agent-api/authenticate";
import { readBytes, readMessage } from "#agent-api/body";
import { factory, type AgentEnv } from "#agent-api/factory";
import { accepted, AgentRefusal } from "#agent-api/refusal";

/** The screenshot in base64, and the texts. */
const maxReportBytes = 2 * maxScreenBytes;

const Id = z.coerce.number().int().positive();

export const testdrives = factory
  .createApp()
  .post("/claim", async (c) => {
    const request = await readMessage(c, TestdriveClaimRequest);

    const services = { env: c.env, db: c.var.db };
    const checks = request.canCheck && (() => checkSessions(services, request));
    const claimed = await claimTestdrive(services, await registered(c), request, checks);

    return c.json<z.infer<typeof TestdriveClaimAnswer>>({ testdrive: claimed ?? null });
  })
  // The image that the session boots, while the agent's claim is valid.
  .get("/:id/image", async (c) => {
    const { token, row } = tokenOf(c, Id.parse(c.req.param("id")));
    const { buildId } = accepted(await testdriveObject(c.env, row).heldBuild(c.var.agent.id, token));
    const build = await findAnyBuild(c.var.db, buildId);
    const answer = build && (await answerImage(openerFor(c.env), c.req.raw, build));
    if (!answer) throw new AgentRefusal("no_image");
    return answer;
  })
  // A screenshot from a separate boot, which may take longer than the session.
  .post("/:id/screen", async (c) => {
    const agent = await registered(c);
    const { token, row } = tokenOf(c, Id.parse(c.req.param("id")));
    const { buildId } = accepted(await testdriveObject(c.env, row).bootedBuild(agent.id, token));
    const png = await readBytes(c, maxScreenBytes);
    await keepScreen({ env: c.env, db: c.var.db }, { buildId, png });
    return c.body(null, 204);
  })
  // The screen that a check compares with. 204 if there is none.
  .get("/:id/checks/screens/:build", async (c) => {
    const { token, row } = tokenOf(c, Id.parse(c.req.param("id")));
    accepted(await testdriveObject(c.env, row).heldBuild(c.var.agent.id, token));
    const which = { testdriveUid: row.uid, buildId: Id.parse(c.req.param("build")) };
    const screen = await openReference({ env: c.env, db: c.var.db }, which);
    return screen ? c.body(screen.body, 200, { "content-type": "image/png" }) : c.body(null, 204);
  })
  // The last message of a session that runs the checks of an image.
  .post("/:id/checks", async (c) => {
    const { token, row } = tokenOf(c, Id.parse(c.req.param("id")));
    accepted(await testdriveObject(c.env, row).heldBuild(c.var.agent.id, token));
    const report = await readMessage(c, CheckReport, maxReportBytes);
    const stored = await acceptReport({ env: c.env, db: c.var.db }, row.uid, report);
    if (stored === "late") throw new AgentRefusal("late");
    if (stored === "wrong") throw new AgentRefusal("invalid", "There must be one result for each check of the claim.");
    return c.body(null, 204);
  })
  // A session's disk outlives its lease, so the lease does not prove that the agent is still registered.
  .use("/:id/modified/*", async (c, next) => {
    await registered(c);
    await next();
  })
  .get("/:id/modified", (c) => openSocket(c, "modified"))
  .post("/:id/modified/:request", (c) => bringAnswer(c, c.req.param("request")))
  .get("/:id/control", (c) => openSocket(c, "control"))
  .get("/:id/viewers/:viewer", (c) => openSocket(c, `viewer/${encodeURIComponent(c.req.param("viewer"))}`))
  // Requests to the guest's web server: the body of a visitor's request and the guest's answer, both as streams, or the
  // WebSocket.
  .get("/:id/visits/:visit/body", (c) => passOn(c))
  .get("/:id/visits/:visit/socket", (c) => passOn(c))
  .post("/:id/visits/:visit/answer", (c) => passOn(c));

/** Opens a socket to the session's object, which checks the attempt's token. */
async function openSocket(c: Context<AgentEnv>, side: string): Promise<Response> {
  if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
    throw new AgentRefusal("invalid", "This URL supports only WebSocket.");
  }
  const { token, row } = tokenOf(c, Id.parse(c.req.param("id")));
  const url = `https://testdrive/${side}?agent=${c.var.agent.id}`;
  const headers = { upgrade: "websocket", [attemptHeader]: token };
  const answer = await testdriveObject(c.env, row).fetch(url, { headers });
  return await unlessLate(answer);
}

/** Forwards an answer about modified files, as a stream. */
async function bringAnswer(c: Context<AgentEnv>, request: string): Promise<Response> {
  const { row, token } = tokenOf(c, Id.parse(c.req.param("id")));
  const url = `https://testdrive/modified/answers/${encodeURIComponent(request)}?agent=${c.var.agent.id}`;
  const headers = new Headers(c.req.raw.headers);
  headers.set(attemptHeader, token);
  const answer = await testdriveObject(c.env, row).fetch(url, { method: "POST", headers, body: untimed(c).body });
  return new Response(null, { status: (await unlessLate(answer)).status });
}

const Visit = z.object({
  id: Id,
  visit: z.string().regex(/^[\w-]{1,64}$/),
});

/** Forwards the request to the session's object, which checks the attempt's token and joins the streams. */
async function passOn(c: Context<AgentEnv>): Promise<Response> {
  const { id, visit } = Visit.parse(c.req.param());
  const { row, token } = tokenOf(c, id);
  const url = `https://testdrive/visits/${visit}?agent=${c.var.agent.id}`;
  const request = new Request(url, untimed(c));
  request.headers.set(attemptHeader, token);
  const answer = await testdriveObject(c.env, row).fetch(request);
  return await unlessLate(answer);
}

async function unlessLate(answer: Response): Promise<Response> {
  if (answer.status === 410) throw new AgentRefusal("late", await answer.text());
  return answer;
}
