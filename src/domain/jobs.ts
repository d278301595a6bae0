import type { Job } from "#lib/contract/index";
import { logFailure } from "#log/log";

/** Wakes builder agents: a message in the queue, and a poke on their sockets, which is faster. */
export async function sendJob(env: Env, job: Job): Promise<void> {
  // Agents pull JSON as base64, which only this content type says on both sides (Cloudflare Queues, "Pull consumers").
  await env.JOBS.send(job, { contentType: "json" });
  // Embedded, the consumer pokes when the mailbox has the message (queues/consume.ts).
  if (env.MODE === "embedded") return;
  // The message is sent, and an agent finds it without a poke: a caller must not send it again.
  await Promise.resolve(switchboard(env).poke()).catch((error: unknown) =>
    logFailure("could not poke the agents", error),
  );
}

/** Tells the agent that has a build to stop it, before its next heartbeat would. */
export async function callOff(env: Pick<Env, "SWITCHBOARD">, agentId: number, buildId: number): Promise<void> {
  await Promise.resolve(switchboard(env).cancel(agentId, buildId)).catch((error: unknown) =>
    logFailure("could not tell an agent that its build is cancelled", error, { buildId }),
  );
}

/** The one object that holds the agents' sockets. */
export const switchboard = (env: Pick<Env, "SWITCHBOARD">) => env.SWITCHBOARD.getByName("agents");

/** The one object behind the embedded queue. */
export const mailbox = (env: Pick<Env, "MAILBOX">) => env.MAILBOX.getByName("jobs");
