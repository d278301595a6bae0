import { and, eq, isNull, lt, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { idempotentAnswers } from "./schema.ts";

/** A row: a request that has its key, and its answer when it is done. */
export type IdempotentAnswer = typeof idempotentAnswers.$inferSelect;
/** A request that has its key. */
export type KeyHolder = Pick<IdempotentAnswer, "accountId" | "key" | "createdAt">;

/** Whether the request now has its key: nobody had it, or who had it is dead or older than `keptSince`. */
export async function takeKey(
  db: Database,
  request: Pick<IdempotentAnswer, "accountId" | "key" | "createdAt" | "requestSha256" | "leaseEndsAt">,
  keptSince: Date,
): Promise<boolean> {
  const { accountId, key, status, leaseEndsAt, createdAt } = idempotentAnswers;
  const isFree = sql`(${and(isNull(status), lt(leaseEndsAt, request.createdAt))} OR ${lt(createdAt, keptSince)})`;
  const taken = await db
    .insert(idempotentAnswers)
    .values(request)
    .onConflictDoUpdate({
      target: [accountId, key],
      set: { ...request, status: null, contentType: null, body: null },
      setWhere: isFree,
    })
    .returning({ key });
  return taken.length === 1;
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
