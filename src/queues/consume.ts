import { deadImportsQueue, ImportMessage, importsQueues } from "#domain/repositories/import-queue";
import { giveUpSlot, importInTurn } from "#domain/repositories/turns";
import { logFailure } from "#log/log";
import { forRequest } from "#log/request-id";
import { openDatabase, type Database } from "#storage/db";
import { choresQueue, takeChores } from "./sweep.ts";
import { Job } from "#lib/contract/index";
import { mailbox } from "#domain/jobs";

/** The name that a queue has in production: kiln-slow-imports for kiln-staging-slow-imports. */
const plainName = (queue: string) => queue.replace(/^kiln-(?!slow-|dead-)[a-z0-9]+-/, "kiln-");

/** Consumes every queue of this Worker. */
export async function consume(batch: MessageBatch, env: Env): Promise<void> {
  const queue = plainName(batch.queue);
  const patience = importsQueues[queue];
  if (patience) await takeImports(batch, env, (db, id) => importInTurn({ env, db }, { repositoryId: id, patience }));
  else if (queue === deadImportsQueue) await takeImports(batch, env, (db, id) => giveUpSlot({ env, db }, id));
  else if (queue === choresQueue) await takeChores(batch, env);
  else await takeJobs(batch, env);
}

/** Embedded mode only: puts the messages into the mailbox, where the agents' gateway finds them. */
async function takeJobs(batch: MessageBatch, env: Env): Promise<void> {
  const messages = batch.messages.flatMap(({ id, body, timestamp }) => {
    const job = Job.safeParse(body);
    if (!job.success) logFailure("a message is not a valid job", job.error, { message: id });
    return job.success ? [{ id, body: JSON.stringify(job.data), sentAt: timestamp.getTime() }] : [];
  });
  await mailbox(env).put(messages);
}

/** A problem with a repository is stored in its row. Only failures of the service are retried. */
async function takeImports(
  batch: MessageBatch,
  env: Env,
  take: (db: Database, repositoryId: number) => Promise<void>,
): Promise<void> {
  const db = openDatabase(env);
  for (const message of batch.messages) {
    const request = ImportMessage.safeParse(message.body);
    if (!request.success) {
      logFailure("a message is not a valid import request", request.error, { message: message.id });
      continue;
    }
    const { repositoryId, requestId = message.id } = request.data;
    await forRequest(requestId, async () => {
      try {
        await take(db, repositoryId);
      } catch (error) {
        logFailure("an import failed", error, { queue: batch.queue, repositoryId });
        message.retry();
      }
    });
  }
}
