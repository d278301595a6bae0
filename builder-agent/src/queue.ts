import { z } from "zod";
import type { Config } from "./config.ts";
import { Job } from "./contract.ts";
import { RemoteRefusal, shortTries, withRetry } from "./retry.ts";

/** A wake-up. `job` is null if this agent does not understand it. Such a message must be acknowledged anyway. */
export interface Message {
  leaseId: string;
  job: Job | null;
}

export interface PullQueue {
  pull(atMost: number, signal: AbortSignal): Promise<Message[]>;
  /** Deletes `done` from the queue. `later` are delivered again. */
  acknowledge(done: readonly Message[], later: readonly Message[], signal: AbortSignal): Promise<void>;
}

/** Long enough for a claim. If the agent dies in that time, its message goes to another agent. */
const visibilityMs = 30_000;
/** A message that this agent cannot serve now is soon offered to another agent. */
const laterSeconds = 2;

/** Cloudflare's HTTP pull protocol; the Worker's own gateway speaks the same. */
export function connectQueue(config: Pick<Config, "queueUrl" | "queueToken">): PullQueue {
  return {
    async pull(atMost, signal) {
      const body = { batch_size: atMost, visibility_timeout_ms: visibilityMs };
      const { messages } = Pulled.parse(await post(config, "pull", body, signal));
      return messages.map((message) => ({ leaseId: message.lease_id, job: readJob(message) }));
    },
    async acknowledge(done, later, signal) {
      if (done.length + later.length === 0) return;
      const acks = done.map((message) => ({ lease_id: message.leaseId }));
      const retries = later.map((message) => ({ lease_id: message.leaseId, delay_seconds: laterSeconds }));
      await post(config, "ack", { acks, retries }, signal);
    },
  };
}

const Pulled = z.object({
  messages: z.array(
    z.object({ lease_id: z.string(), body: z.string(), metadata: z.record(z.string(), z.unknown()).nullish() }),
  ),
});

const Answer = z.object({ success: z.boolean(), errors: z.array(z.unknown()).nullish(), result: z.unknown() });

async function post(
  config: Pick<Config, "queueUrl" | "queueToken">,
  verb: "pull" | "ack",
  body: object,
  signal: AbortSignal,
) {
  return await withRetry(async () => {
    const response = await fetch(`${config.queueUrl}/messages/${verb}`, {
      method: "POST",
      headers: { authorization: `Bearer ${config.queueToken}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
    });
    const answer = Answer.safeParse(await response.json().catch(() => null));
    if (response.ok && answer.data?.success === true) return answer.data.result;
    const said = JSON.stringify(answer.data?.errors ?? null).slice(0, 300);
    throw new RemoteRefusal(`queue ${verb}`, response.status, said);
  }, shortTries(signal));
}

/** The body is base64 in a JSON message, and plain in a text message. */
function readJob(message: z.infer<typeof Pulled>["messages"][number]): Job | null {
  const isText = message.metadata?.["CF-Content-Type"] === "text";
  const text = isText ? message.body : Buffer.from(message.body, "base64").toString();
  try {
    return Job.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
