import { and, eq, isNull, lt, sql, type SQL } from "drizzle-orm";
import type { Database } from "./db.ts";
import { insertWhere } from "./inserts.ts";
import { idempotentAnswers } from "./schema.ts";

/** A row: a request that holds its key, and the answer once there is one. */
export type IdempotentAnswer = typeof idempotentAnswers.$inferSelect;
/** A request that holds its key. */
export type KeyHolder = Pick<IdempotentAnswer, "accountId" | "key" | "createdAt" | "requestId">;

/** Limits for the keys and answers of one account. */
export interface KeyLimits {
  keys: number;
  answerBytes: number;
}

/**
 * Takes a key for a request and returns the request's id. The key must be free, older than `storedSince`, or held by a
 * dead attempt of the same request; then the id of that attempt is used again. Undefined if another request holds the
 * key, or the account has too many keys.
 */
export async function takeKey(
  db: Database,
  request: Pick<IdempotentAnswer, "accountId" | "key" | "createdAt" | "requestSha256" | "leaseEndsAt">,
  { storedSince, limits }: { storedSince: Date; limits: KeyLimits },
): Promise<string | undefined> {
  const { accountId, key, status, leaseEndsAt, createdAt, requestSha256, requestId } = idempotentAnswers;
  const isOld = lt(createdAt, storedSince);
  const isDead = and(isNull(status), lt(leaseEndsAt, request.createdAt), eq(requestSha256, request.requestSha256));
  const known = sql`EXISTS (SELECT 1 FROM idempotent_answers
    WHERE account_id = ${request.accountId} AND key = ${request.key})`;
  const isRoom = sql`(${keysOf(request.accountId)} < ${limits.keys} OR ${known})`;
  const [taken] = await insertWhere(db, idempotentAnswers, request, isRoom)
    .onConflictDoUpdate({
      target: [accountId, key],
      set: {
        ...request,
        status: null,
        contentType: null,
        body: null,
        requestId: sql`CASE WHEN ${isOld} THEN excluded.request_id ELSE ${requestId} END`,
      },
      setWhere: sql`(${isDead} OR ${isOld})`,
    })
    .returning({ requestId });
  return taken?.requestId;
}

export async function hasKeys(db: Database, accountId: number, amount: number): Promise<boolean> {
  const { enough } = await db.get<{ enough: number }>(sql`SELECT ${keysOf(accountId)} >= ${amount} AS enough`);
  return enough === 1;
}

const keysOf = (accountId: number): SQL =>
  sql`(SELECT count(*) FROM idempotent_answers WHERE account_id = ${accountId})`;

export const findKeyHolder = (db: Database, accountId: number, key: string): Promise<IdempotentAnswer | undefined> =>
  db.query.idempotentAnswers.findFirst({
    where: and(eq(idempotentAnswers.accountId, accountId), eq(idempotentAnswers.key, key)),
  });

export async function renewKey(db: Database, holder: KeyHolder, leaseEndsAt: Date): Promise<void> {
  await db.update(idempotentAnswers).set({ leaseEndsAt }).where(isHeldBy(holder));
}

/** Stores an answer. Omits its body if the account already has too many bytes of answers. */
export async function storeAnswer(
  db: Database,
  holder: KeyHolder,
  answer: Pick<IdempotentAnswer, "status" | "contentType" | "body">,
  { answerBytes }: Pick<KeyLimits, "answerBytes">,
): Promise<void> {
  const stored = sql`(SELECT coalesce(sum(octet_length(body)), 0) FROM idempotent_answers AS one
    WHERE one.account_id = ${holder.accountId})`;
  const body = sql`CASE WHEN ${stored} + octet_length(${answer.body}) <= ${answerBytes} THEN ${answer.body} END`;
  await db
    .update(idempotentAnswers)
    .set({ ...answer, body })
    .where(isHeldBy(holder));
}

/** Ends the lease, so that the next request with the key can continue immediately. */
export const endLease = (db: Database, holder: KeyHolder): Promise<void> => renewKey(db, holder, new Date(0));

export async function freeKey(db: Database, holder: KeyHolder): Promise<void> {
  await db.delete(idempotentAnswers).where(isHeldBy(holder));
}

/** Deletes answers, at most a thousand at a time, because the sweep runs again. */
export async function deleteAnswersBefore(db: Database, moment: Date): Promise<void> {
  const old = sql`(SELECT rowid FROM ${idempotentAnswers} WHERE ${lt(idempotentAnswers.createdAt, moment)} LIMIT 1000)`;
  await db.delete(idempotentAnswers).where(sql`rowid IN ${old}`);
}

const isHeldBy = ({ accountId, key, createdAt }: KeyHolder) =>
  and(
    eq(idempotentAnswers.accountId, accountId),
    eq(idempotentAnswers.key, key),
    eq(idempotentAnswers.createdAt, createdAt),
    isNull(idempotentAnswers.status),
  );
