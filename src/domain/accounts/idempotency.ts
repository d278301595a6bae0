import type { Services } from "#domain/services";
import { Refusal, tooFast } from "#domain/refusal";
import { leaseEnd, whileRenewed } from "#domain/request-lease";
import { encryptSecret, decryptSecret, type EncryptionKey } from "#domain/secrets";
import {
  deleteAnswersBefore,
  findKeyHolder,
  hasKeys,
  endLease,
  freeKey,
  storeAnswer,
  renewKey,
  takeKey,
  type KeyHolder,
} from "#storage/idempotent-answers";

/** A request that its client may repeat because it lost the answer. The request is done once. */
export interface RepeatableRequest {
  accountId: number;
  /** The client's name for the request, such as a UUID. */
  key: string;
  /** Two requests with the same digest are the same request. */
  requestSha256: string;
}

/**
 * The store of answers. Their bodies are encrypted, because some contain the URL of a testdrive or a download, which is
 * a secret.
 */
export type AnswerStore = Services<EncryptionKey>;

/** A stored answer. `body` is null if it was too large to be stored. */
export interface Answer {
  status: number;
  contentType: string;
  body: string | null;
}

/**
 * The outcome of the work. `refused`: the work has changed nothing, so its key is free again. `failed`: it may have
 * changed something, which a repeated request finds.
 */
export type Outcome = Answer | "refused" | "failed";

const retentionMs = 24 * 60 * 60 * 1000;

/**
 * The limits for one account during the time that keys are stored. If an answer would exceed the bytes, only its key is
 * stored.
 */
const keyLimits = { keys: 20_000, answerBytes: 16 * 2 ** 20 };

/**
 * Claims the right to do the request, which only one request can hold. If the same request was done before, returns its
 * stored answer.
 */
export async function claimKey(
  store: AnswerStore,
  request: RepeatableRequest,
): Promise<{ holder: KeyHolder } | { answer: Answer }> {
  const now = Date.now();
  const taking = { ...request, createdAt: new Date(now), leaseEndsAt: leaseEnd(now) };
  const storedSince = new Date(now - retentionMs);
  const requestId = await takeKey(store.db, taking, { storedSince, limits: keyLimits });
  if (requestId !== undefined) return { holder: { ...taking, requestId } };
  return { answer: await answerBefore(store, request) };
}

/**
 * Does the work while holding its key, and stores the answer. Refused or failed work may be retried with the same key.
 */
export async function holdKey(
  { db, env }: AnswerStore,
  holder: KeyHolder,
  work: () => Promise<Outcome>,
): Promise<void> {
  await whileRenewed(
    (endsAt) => renewKey(db, holder, endsAt),
    async () => {
      const outcome = await work();
      if (outcome === "refused") await freeKey(db, holder);
      else if (outcome === "failed") await endLease(db, holder);
      else await storeAnswer(db, holder, await encrypted(env, outcome), keyLimits);
    },
  );
}

const encrypted = async (env: EncryptionKey, answer: Answer): Promise<Answer> => ({
  ...answer,
  body: answer.body && (await encryptSecret(env, answer.body)),
});

/**
 * Creates the request's row only once. The row has the request's id, under a unique index. So a repeat of an
 * interrupted request finds the row instead of creating another one, and only one of two simultaneous requests creates
 * it.
 */
export async function makeOnce<T>(
  requestId: string | undefined,
  { find, make }: { find: (requestId: string) => Promise<T | undefined>; make: () => Promise<T> },
): Promise<T> {
  if (requestId === undefined) return await make();
  const made = await find(requestId);
  if (made !== undefined) return made;
  try {
    return await make();
  } catch (error) {
    const madeMeanwhile = await find(requestId);
    if (madeMeanwhile === undefined) throw error;
    return madeMeanwhile;
  }
}

/** A chore of the sweep: deletes answers that are no longer needed. */
export const forgetIdempotentAnswers = ({ db }: Pick<Services, "db">, now: number): Promise<void> =>
  deleteAnswersBefore(db, new Date(now - retentionMs));

async function answerBefore(
  { db, env }: AnswerStore,
  { accountId, key, requestSha256 }: RepeatableRequest,
): Promise<Answer> {
  const found = await findKeyHolder(db, accountId, key);
  if (found && found.requestSha256 !== requestSha256) {
    throw refused("key_taken", "This Idempotency-Key was used for another request. Use a new key for each request.");
  }
  if (!found && (await hasKeys(db, accountId, keyLimits.keys))) throw tooManyKeys();
  // Not found if the key was freed just now.
  if (!found || found.status === null) {
    throw refused(
      "repeated",
      "The first request with this Idempotency-Key is still in progress. Try again in a moment.",
    );
  }
  return {
    status: found.status,
    contentType: found.contentType ?? "",
    body: found.body && (await decryptSecret(env, found.body)),
  };
}

const tooManyKeys = () =>
  tooFast(
    60 * 60,
    `You sent ${keyLimits.keys} requests with an Idempotency-Key within 24 hours. Wait, or send this one without a key.`,
  );

const refused = (reason: "key_taken" | "repeated", message: string) =>
  new Refusal("unknown_error", { reason, message });
