import { Refusal } from "#domain/refusal";
import type { Database } from "#storage/db";
import {
  deleteAnswersBefore,
  findKeyHolder,
  freeKey,
  keepAnswer,
  renewKey,
  takeKey,
  type KeyHolder,
} from "#storage/idempotent-answers";

/** A request that may come again because its client lost the answer; it is done once. */
export interface RepeatableRequest {
  accountId: number;
  /** What the client calls it, e.g. a UUID. */
  key: string;
  /** Equal for the same request. */
  requestSha256: string;
}

/** Body null: too large to be kept. */
export interface Answer {
  status: number;
  contentType: string;
  body: string | null;
}

const keptMs = 24 * 60 * 60 * 1000;
/** A request that fell silent loses its key; one at work renews it four times in between. */
const leaseMs = 2 * 60 * 1000;
const renewalMs = 30 * 1000;

/** The right to do the request, which one alone can have; or what the same one was answered before. */
export async function claimKey(
  db: Database,
  request: RepeatableRequest,
): Promise<{ holder: KeyHolder } | { answer: Answer }> {
  const now = Date.now();
  const holder = { ...request, createdAt: new Date(now), leaseEndsAt: new Date(now + leaseMs) };
  if (await takeKey(db, holder, new Date(now - keptMs))) return { holder };
  return { answer: await answerBefore(db, request) };
}

/**
 * Does the work while its key is held, and keeps its answer. Undefined: it was refused, so it has changed nothing, and may
 * be tried again under the same key; so may what failed.
 */
export async function holdKey(db: Database, holder: KeyHolder, work: () => Promise<Answer | undefined>): Promise<void> {
  const renewal = setInterval(() => {
    renewKey(db, holder, new Date(Date.now() + leaseMs)).catch((error: unknown) => console.error("renewKey:", error));
  }, renewalMs);
  try {
    const answer = await work();
    if (answer) await keepAnswer(db, holder, answer);
    else await freeKey(db, holder);
  } catch (error) {
    await freeKey(db, holder);
    throw error;
  } finally {
    clearInterval(renewal);
  }
}

/** A chore of the sweep. */
export const forgetIdempotentAnswers = (_: unknown, db: Database, now: number): Promise<void> =>
  deleteAnswersBefore(db, new Date(now - keptMs));

async function answerBefore(db: Database, { accountId, key, requestSha256 }: RepeatableRequest): Promise<Answer> {
  const found = await findKeyHolder(db, accountId, key);
  if (found && found.requestSha256 !== requestSha256) {
    throw refused(
      "key_of_another",
      "This Idempotency-Key belongs to another request. Take a new one for each request.",
    );
  }
  // Not found: it was freed in this moment.
  if (!found || found.status === null) {
    throw refused(
      "key_at_work",
      "The first request with this Idempotency-Key is still at work. Ask again in a moment.",
    );
  }
  return { status: found.status, contentType: found.contentType ?? "", body: found.body };
}

const refused = (where: "key_of_another" | "key_at_work", message: string) =>
  new Refusal("unknown_error", { in: where, message });
