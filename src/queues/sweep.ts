import { resumeAllImports } from "#domain/repositories/turns";
import { logFailure } from "#log/log";
import { forRequest } from "#log/request-id";
import { openDatabase } from "#storage/db";
import { saveChores } from "#storage/metrics";
import { ChoreMessage, chores, doChore } from "./chores.ts";

export const choresQueue = "kiln-chores";

/**
 * Runs every minute: requests every chore. Each request is a message. On Cloudflare each message has its own
 * invocation, with its own limit of subrequests, so a failure stops no other chore.
 *
 * `start`: under `npm start`, the first run of a new workerd. The queues of the previous one were in its memory.
 */
export async function sweep(
  { scheduledTime: at, cron }: { scheduledTime: number; cron?: string },
  env: Env,
): Promise<void> {
  const db = openDatabase(env.DB);
  if (cron === "start") await resumeAllImports({ env, db });
  await saveChores(db, chores, new Date(at));
  const messages = chores.map((chore) => ({ body: { chore, at } satisfies ChoreMessage }));
  await env.CHORES.sendBatch(messages.map((message) => ({ ...message, contentType: "json" as const })));
}

/** Runs the chores of a batch at the same time, each once even if several messages request it. */
export async function takeChores({ messages }: MessageBatch, env: Env): Promise<void> {
  const latest = new Map<string, ChoreMessage>();
  for (const { id, body } of messages) {
    const message = ChoreMessage.safeParse(body);
    if (message.success) latest.set(message.data.chore, message.data);
    else logFailure("a message is not a valid chore", message.error, { message: id });
  }
  await Promise.all(
    [...latest.values()].map((message) => forRequest(`sweep-${message.at}`, () => doChore(env, message))),
  );
}
