import type { Job } from "#lib/contract/index";
import { logFailure } from "#log/log";

/** Wakes builder agents, with a message in the queue and a notice on their sockets, which is faster. */
export async function sendJob(env: Env, job: Job): Promise<void> {
  // Agents pull JSON as base64; only this content type means that on both sides (Cloudflare Queues, "Pull consumers").
  await env.JOBS.send(job, { contentType: "json" });
  // In embedded mode, the consumer wakes them when the mailbox has the message (queues/consume.ts).
  if (env.MODE === "embedded") return;
  // The message is sent, and an agent finds it even without the notice, so the caller must not send it again.
  await Promise.resolve(switchboard(env).wake()).catch((error: unknown) =>
    logFailure("could not wake the agents", error),
  );
}

/** Requests an agent to stop its build, without waiting for the next heartbeat. */
export async function callOff(env: Pick<Env, "SWITCHBOARD">, agentId: number, buildId: number): Promise<void> {
  await Promise.resolve(switchboard(env).cancel(agentId, buildId)).catch((error: unknown) =>
    logFailure("could not notify an agent that its build is cancelled", error, { buildId }),
  );
}

/** The one object that holds the agents' sockets. */
export const switchboard = (env: Pick<Env, "SWITCHBOARD">) => env.SWITCHBOARD.getByName("agents");

/** The one object behind the embedded queue. */
export const mailbox = (env: Pick<Env, "MAILBOX">) => env.MAILBOX.getByName("jobs");
