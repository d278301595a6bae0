import { Job } from "#contract/index";
import { mailbox, switchboard } from "#domain/jobs";
import { logFailure } from "#log/log";

/** Embedded mode only: puts the messages into the mailbox, where the agents' gateway finds them. */
export async function takeJobs(batch: MessageBatch, env: Env): Promise<void> {
  const messages = batch.messages.flatMap(({ id, body, timestamp }) => {
    const job = Job.safeParse(body);
    if (!job.success) logFailure("a message is not a valid job", job.error, { message: id });
    return job.success ? [{ id, body: JSON.stringify(job.data), sentAt: timestamp.getTime() }] : [];
  });
  await mailbox(env).put(messages);
  await switchboard(env).poke();
}
