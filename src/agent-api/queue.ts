import { Hono } from "hono";
import type { Context } from "hono";
import { z } from "zod";
import { agentOf, bearerToken } from "#agent-api/authenticate";
import type { AgentEnv } from "#agent-api/factory";
import { mailbox, switchboard } from "#domain/jobs";
import { keyedHash, sameSecret } from "#domain/secrets";
import { logFailure } from "#log/log";

const maxBatchSize = 100;
const maxLeaseMs = 12 * 60 * 60_000;
const maxDelaySeconds = 24 * 60 * 60;

const PullRequest = z.object({
  batch_size: z.int().min(1).max(maxBatchSize).default(5),
  visibility_timeout_ms: z.int().min(0).max(maxLeaseMs).optional(),
  // The older name of the same value, also in milliseconds.
  visibility_timeout: z.int().min(0).max(maxLeaseMs).optional(),
});
const AckRequest = z.object({
  acks: z.array(z.object({ lease_id: z.string() })).default([]),
  retries: z
    .array(z.object({ lease_id: z.string(), delay_seconds: z.int().min(0).max(maxDelaySeconds).default(0) }))
    .default([]),
});

type GatewayEnv = { Bindings: Env; Variables: Pick<AgentEnv["Variables"], "db"> };

/**
 * Cloudflare's HTTP pull consumer under its own paths, so that agents always use the same protocol. In embedded mode it
 * serves the mailbox. In production it forwards the call with QUEUE_API_TOKEN, which could edit every queue of the
 * account and so must never reach a build host. The account and the queue in the path are ignored.
 */
export const queueGateway = new Hono<GatewayEnv>()
  .use(async (c, next) => {
    if (!(await isAllowed(c))) return c.json(failure(10000, "Authentication error"), 403);
    await next();
    return undefined;
  })
  .post("/accounts/:account/queues/:queue/messages/pull", async (c) => {
    const request = PullRequest.safeParse(await jsonOf(c));
    if (!request.success) return c.json(failure(10207, z.prettifyError(request.error)), 400);
    if (c.env.MODE !== "embedded") return await forward(c.env, "pull", request.data);
    const { batch_size: batchSize, visibility_timeout_ms: timeoutMs, visibility_timeout: older } = request.data;
    const { messages, backlog } = await mailbox(c.env).pull({
      batchSize,
      visibilityTimeoutMs: timeoutMs ?? older ?? 30_000,
    });
    return c.json(success({ message_backlog_count: backlog, messages }));
  })
  .post("/accounts/:account/queues/:queue/messages/ack", async (c) => {
    const request = AckRequest.safeParse(await jsonOf(c));
    if (!request.success) return c.json(failure(10207, z.prettifyError(request.error)), 400);
    if (c.env.MODE !== "embedded") return await forward(c.env, "ack", request.data);
    const acks = request.data.acks.map(({ lease_id: leaseId }) => leaseId);
    const retries = request.data.retries.map(({ lease_id: leaseId, delay_seconds: seconds }) => ({
      leaseId,
      delayMs: seconds * 1000,
    }));
    return c.json(success(await mailbox(c.env).acknowledge({ acks, retries })));
  });

async function isAllowed(c: Context<GatewayEnv>): Promise<boolean> {
  const authorization = c.req.header("authorization");
  const token = bearerToken(authorization);
  if (token === undefined) return false;
  if (sameSecret(token, c.env.GATEWAY_TOKEN)) return true;
  const board = switchboard(c.env);
  const tokenHmac = keyedHash(c.env.API_KEY_PEPPER, token);
  // Idle agents poll so often that the object answers instead of the database. During a deploy, the object may run
  // older code.
  if (await Promise.resolve(board.recognizes(tokenHmac)).catch(() => false)) return true;
  const agent = await agentOf({ env: c.env, db: c.var.db }, authorization);
  if (!agent) return false;
  await Promise.resolve(board.remember(agent.id, tokenHmac)).catch((error: unknown) =>
    logFailure("could not remember an agent's token", error, { agent: agent.name }),
  );
  return true;
}

/**
 * Parses the body. Returns undefined, which no schema accepts, if the body is not JSON. As at Cloudflare, an empty body
 * counts as an empty object.
 */
async function jsonOf(c: Context): Promise<unknown> {
  const text = await c.req.text();
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function forward(env: Env, verb: "pull" | "ack", body: object): Promise<Response> {
  const queue = `accounts/${env.CLOUDFLARE_ACCOUNT_ID}/queues/${env.QUEUE_ID}`;
  const answer = await fetch(`https://api.cloudflare.com/client/v4/${queue}/messages/${verb}`, {
    method: "POST",
    headers: { authorization: `Bearer ${env.QUEUE_API_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return new Response(answer.body, { status: answer.status, headers: { "content-type": "application/json" } });
}

const success = (result: object) => ({ success: true, errors: [], messages: [], result });
const failure = (code: number, message: string) => ({
  success: false,
  errors: [{ code, message }],
  messages: [],
  result: null,
});
