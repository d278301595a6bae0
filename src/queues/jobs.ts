import { Job } from "#contract/index";

/** Wakes builder agents: a message in the queue, and a word on their sockets, which is faster. */
export async function sendJob(env: Env, job: Job): Promise<void> {
  // Agents pull JSON as base64; no other content type says so on both sides (Cloudflare Queues, "Pull consumers").
  await env.JOBS.send(job, { contentType: "json" });
  // Embedded, the poke waits for the mailbox to have the message: see takeJobs.
  if (env.MODE !== "embedded") await switchboard(env).poke();
}

/** Embedded only: parks the wake-ups in the mailbox, where the agents' gateway finds them. */
export async function takeJobs(batch: MessageBatch, env: Env): Promise<void> {
  const letters = batch.messages.flatMap(({ id, body, timestamp }) => {
    const job = Job.safeParse(body);
    if (!job.success) console.error(`message ${id} is no job:`, job.error.message);
    return job.success ? [{ id, body: JSON.stringify(job.data), sentAt: timestamp.getTime() }] : [];
  });
  await mailbox(env).put(letters);
  await switchboard(env).poke();
}

/** The one object that holds the agents' sockets. */
export const switchboard = (env: Pick<Env, "SWITCHBOARD">) => env.SWITCHBOARD.getByName("agents");

/** The one object behind the embedded queue. */
export const mailbox = (env: Pick<Env, "MAILBOX">) => env.MAILBOX.getByName("jobs");
