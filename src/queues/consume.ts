import { importRepository, giveUpImport } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { ImportRequest, importsQueue } from "./imports.ts";
import { takeJobs } from "./jobs.ts";

/** As in wrangler.toml. */
const maxRetries = 3;

/** Every queue that this Worker consumes. */
export async function consume(batch: MessageBatch, env: Env): Promise<void> {
  await (batch.queue === importsQueue ? takeImports(batch, env) : takeJobs(batch, env));
}

/** What is wrong with a repository is written into its row; only our own failures are tried again. */
async function takeImports(batch: MessageBatch, env: Env): Promise<void> {
  const db = openDatabase(env.DB);
  for (const message of batch.messages) {
    const request = ImportRequest.safeParse(message.body);
    if (!request.success) {
      console.error(`message ${message.id} asks for no import:`, request.error.message);
      continue;
    }
    const { repositoryId } = request.data;
    try {
      await importRepository(env, db, repositoryId);
    } catch (error) {
      console.error(`import of repository ${repositoryId}:`, error);
      if (message.attempts > maxRetries) await giveUpImport(db, repositoryId);
      else message.retry();
    }
  }
}
