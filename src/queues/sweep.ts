import { resumeAllImports } from "#domain/repositories/turns";
import { logFailure } from "#log/log";
import { forRequest } from "#log/request-id";
import { openDatabase } from "#storage/db";
import { saveChores } from "#storage/metrics";
import { ChoreMessage, chores, doChore, messagesOf } from "./chores.ts";

export const choresQueue = "kiln-chores";

/**
 * Runs every minute, and requests every chore. On Cloudflare each message has its own invocation with its own limit of
 * subrequests, so a costly chore cannot stop another one.
 *
 * `start`: the first run of a new workerd under `npm start`. The queues of the previous workerd existed only in its
 * memory.
 */
export async function sweep(
  { scheduledTime: at, cron }: { scheduledTime: number; cron?: string },
  env: Env,
): Promise<void> {
  const db = openDatabase(env);
  if (cron === "start") await resumeAllImports({ env, db });
  await saveChores(db, chores, new Date(at));
  await env.CHORES.sendBatch(messagesOf(at).map((body) => ({ body, contentType: "json" as const })));
}

/** Runs the chores of a batch concurrently, each once even if several messages request it. */
export async function takeChores({ messages }: MessageBatch, env: Env): Promise<void> {
  const latest = new Map<string, Omit<ChoreMessage, "chore" | "also">>();
  for (const { id, body } of messages) {
    const message = ChoreMessage.safeParse(body);
    if (!message.success) {
      logFailure("a message is not a valid chore", message.error, { message: id });
      continue;
    }
    const { chore, also, ...times } = message.data;
    for (const one of [chore, ...also]) latest.set(one, times);
  }
  await Promise.all(
    [...latest].map(([chore, times]) => forRequest(`sweep-${times.at}`, () => doChore(env, { chore, ...times }))),
  );
}
