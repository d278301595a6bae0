import { and, asc, eq, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { insertWhere } from "./inserts.ts";
import { counts } from "./limits.ts";
import { webhooks } from "./schema.ts";

export type Webhook = typeof webhooks.$inferSelect;
export type NewWebhook = Pick<Webhook, "uid" | "accountId" | "url" | "events" | "secretCipher" | "createdAt">;
/** The results of a webhook's latest deliveries. */
export type WebhookHealth = Pick<Webhook, "failingSince" | "disabledReason">;

/** Undefined if the account has reached its limit. One statement, so that simultaneous requests cannot exceed it. */
export async function addWebhook(db: Database, row: NewWebhook, most: number): Promise<Webhook | undefined> {
  const [added] = await insertWhere(db, webhooks, row, sql`${counts.webhooks(row.accountId)} < ${most}`).returning();
  return added;
}

export const listWebhooks = (db: Database, accountId: number): Promise<Webhook[]> =>
  db.query.webhooks.findMany({ where: eq(webhooks.accountId, accountId), orderBy: asc(webhooks.id) });

/** The webhook that was created by a request. */
export const findWebhookByUid = (db: Database, uid: string): Promise<Webhook | undefined> =>
  db.query.webhooks.findFirst({ where: eq(webhooks.uid, uid) });

/** The webhooks of an account by its uid, which is the name of its Events object. */
export const listWebhooksOf = (db: Database, accountUid: string): Promise<Webhook[]> =>
  db.query.webhooks.findMany({
    where: eq(webhooks.accountId, sql`(SELECT id FROM accounts WHERE uid = ${accountUid})`),
    orderBy: asc(webhooks.id),
  });

export const findWebhook = (db: Database, accountId: number, id: number): Promise<Webhook | undefined> =>
  db.query.webhooks.findFirst({ where: ofAccount(accountId, id) });

export async function saveWebhookHealth(db: Database, id: number, health: WebhookHealth): Promise<void> {
  await db.update(webhooks).set(health).where(eq(webhooks.id, id));
}

export async function deleteWebhook(db: Database, accountId: number, id: number): Promise<Webhook | undefined> {
  const [gone] = await db.delete(webhooks).where(ofAccount(accountId, id)).returning();
  return gone;
}

const ofAccount = (accountId: number, id: number) => and(eq(webhooks.id, id), eq(webhooks.accountId, accountId));
