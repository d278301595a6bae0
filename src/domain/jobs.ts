import type { Job } from "#contract/index";

/** Wakes builder agents: a message in the queue, and a poke on their sockets, which is faster. */
export async function sendJob(env: Env, job: Job): Promise<void> {
  // Agents pull JSON as base64, which only this content type says on both sides (Cloudflare Queues, "Pull consumers").
  await env.JOBS.send(job, { contentType: "json" });
  // Embedded, the consumer pokes when the mailbox has the message (queues/consume.ts).
  if (env.MODE !== "embedded") await switchboard(env).poke();
}

/** The one object that holds the agents' sockets. */
export const switchboard = (env: Pick<Env, "SWITCHBOARD">) => env.SWITCHBOARD.getByName("agents");

/** The one object behind the embedded queue. */
export const mailbox = (env: Pick<Env, "MAILBOX">) => env.MAILBOX.getByName("jobs");
