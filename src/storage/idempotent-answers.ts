import { and, eq, isNull, lt, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { idempotentAnswers } from "./schema.ts";

/** A row: a request that holds its key, and its answer when it is done. */
export type IdempotentAnswer = typeof idempotentAnswers.$inferSelect;
/** A request that holds its key. */
export type KeyHolder = Pick<IdempotentAnswer, "accountId" | "key" | "createdAt" | "requestId">;

/**
 * The request's id, if it holds its key now: the key was free, older than `storedSince`, or held by a dead attempt of the same
 * request, whose id it continues with. Undefined: another request holds it.
 */
export async function takeKey(
  db: Database,
  request: Pick<IdempotentAnswer, "accountId" | "key" | "createdAt" | "requestSha256" | "leaseEndsAt">,
  storedSince: Date,
): Promise<string | undefined> {
  const { accountId, key, status, leaseEndsAt, createdAt, requestSha256, requestId } = idempotentAnswers;
  const isOld = lt(createdAt, storedSince);
  const isDead = and(isNull(status), lt(leaseEndsAt, request.createdAt), eq(requestSha256, request.requestSha256));
  const [taken] = await db
    .insert(idempotentAnswers)
    .values(request)
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

export const findKeyHolder = (db: Database, accountId: number, key: string): Promise<IdempotentAnswer | undefined> =>
  db.query.idempotentAnswers.findFirst({
    where: and(eq(idempotentAnswers.accountId, accountId), eq(idempotentAnswers.key, key)),
  });

export async function renewKey(db: Database, holder: KeyHolder, leaseEndsAt: Date): Promise<void> {
  await db.update(idempotentAnswers).set({ leaseEndsAt }).where(isHeldBy(holder));
}

export async function keepAnswer(
  db: Database,
  holder: KeyHolder,
  answer: Pick<IdempotentAnswer, "status" | "contentType" | "body">,
): Promise<void> {
  await db.update(idempotentAnswers).set(answer).where(isHeldBy(holder));
}

/** The next request with the key may go on immediately. */
export const endLease = (db: Database, holder: KeyHolder): Promise<void> => renewKey(db, holder, new Date(0));

export async function freeKey(db: Database, holder: KeyHolder): Promise<void> {
  await db.delete(idempotentAnswers).where(isHeldBy(holder));
}

/** At most a thousand at a time: the sweep comes again. */
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
