import { createMessageBatch } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { consume } from "#queues/consume";
import { sweep } from "#queues/sweep";

type Message = { body: unknown };

/** Runs the sweep as if this much time had passed, and returns its messages. R2's own clock does not change. */
export async function messagesOfSweep(ms = 0): Promise<Message[]> {
  const sent: Message[] = [];
  const sendBatch = async (messages: Iterable<Message>) => void sent.push(...messages);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a queue that only takes messages
  await sweep({ scheduledTime: Date.now() + ms }, { ...env, CHORES: { sendBatch } as unknown as Queue });
  return sent;
}

/** One invocation of the consumer of chores, in an environment that may be partly broken. */
export async function takeChores(messages: readonly Message[], other: Partial<Env> = {}): Promise<void> {
  const batch = messages.map(({ body }, nth) => ({ id: String(nth), timestamp: new Date(), attempts: 1, body }));
  await consume(createMessageBatch("kiln-chores", batch), { ...env, ...other });
}

/** Sweeps as if this much time had passed: one chore after the other, each in a separate invocation. */
export async function sweepIn(ms: number, other: Partial<Env> = {}): Promise<void> {
  for (const message of await messagesOfSweep(ms)) await takeChores([message], other);
}
