import type { Services } from "#domain/services";
import type { Access } from "#domain/accounts/access";
import { makeOnce } from "#domain/accounts/idempotency";
import { limitReached, limitsOf, type LimitsEnv } from "#domain/accounts/limits";
import type { Delivery } from "#domain/events/delivery";
import { eventsObject } from "#domain/events/events";
import type { OutsideRules } from "#domain/outside-address";
import { Refusal } from "#domain/refusal";
import { isReachable } from "#domain/repositories/address";
import { decrypt, encrypt, newToken } from "#domain/secrets";
import { logFailure } from "#log/log";
import { eventNames, type EventName } from "#model/event-names";
import type { Account } from "#storage/accounts";
import type { Database } from "#storage/db";
import { addWebhook, deleteWebhook, findWebhook, findWebhookByUid, type Webhook } from "#storage/webhooks";

export type { Delivery };

type WebhookEnv = LimitsEnv & OutsideRules & Pick<Env, "API_KEY_ENCRYPTION_KEY" | "EVENTS">;

interface WebhookRequest {
  url: string;
  events?: string | undefined;
  /** The id of a request that may be repeated. */
  requestId?: string | undefined;
}

/** Creates a webhook. The result has the secret that signs its deliveries, which is not shown again. */
export async function createWebhook(
  { env, db }: Services<WebhookEnv>,
  accountId: number,
  request: WebhookRequest,
): Promise<{ webhook: Webhook; secret: string }> {
  return await makeOnce(request.requestId, {
    find: async (requestId) => {
      const webhook = await findWebhookByUid(db, requestId);
      return webhook && { webhook, secret: await decrypt(env.API_KEY_ENCRYPTION_KEY, webhook.secretCipher) };
    },
    make: () => makeWebhook({ env, db }, accountId, request),
  });
}

async function makeWebhook({ env, db }: Services<WebhookEnv>, accountId: number, request: WebhookRequest) {
  const url = parseWebhookUrl(env, request.url);
  const events = parseEvents(request.events);
  const secret = newToken();
  const secretCipher = await encrypt(env.API_KEY_ENCRYPTION_KEY, secret);
  const uid = request.requestId ?? crypto.randomUUID();
  const row = { uid, accountId, url, events, secretCipher, createdAt: new Date() };
  const webhook = await addWebhook(db, row, limitsOf(env).webhooks);
  if (webhook) return { webhook, secret };
  throw limitReached(env, "webhooks");
}

export async function getWebhook(db: Database, accountId: number, id: number): Promise<Webhook> {
  const webhook = await findWebhook(db, accountId, id);
  if (!webhook) throw noSuchWebhook();
  return webhook;
}

/**
 * The path and the query of a URL are often a secret of the receiver. They are shown only to the account's key, which
 * may change webhooks.
 */
export const shownWebhook = (webhook: Webhook, access: Access): Webhook =>
  access.by === "key" ? webhook : { ...webhook, url: `${new URL(webhook.url).origin}/` };

/** Removes a webhook and its waiting deliveries. */
export async function removeWebhook(
  { env, db }: Services<Pick<Env, "EVENTS">>,
  account: Account,
  id: number,
): Promise<void> {
  const gone = await deleteWebhook(db, account.id, id);
  if (!gone) throw noSuchWebhook();
  // If this call fails, the object finds no row when it next has something to send.
  await eventsObject(env, account)
    .forgetWebhook(gone.uid)
    .catch((error: unknown) => logFailure("could not delete the deliveries of a webhook", error, { webhook: id }));
}

/** The last 100 deliveries, newest first. */
export async function listDeliveries(
  { env, db }: Services<Pick<Env, "EVENTS">>,
  account: Account,
  webhookId: number,
): Promise<Delivery[]> {
  const { uid } = await getWebhook(db, account.id, webhookId);
  return await eventsObject(env, account).listDeliveries(uid);
}

/**
 * Sends the same body again as a new delivery, and returns the new delivery. If a disabled webhook accepts it, the
 * webhook is enabled again.
 */
export async function replayDelivery(
  { env, db }: Services<Pick<Env, "EVENTS">>,
  account: Account,
  { webhookId, deliveryId, requestId }: { webhookId: number; deliveryId: number; requestId?: string | undefined },
): Promise<Delivery> {
  const { uid } = await getWebhook(db, account.id, webhookId);
  const replayed = await eventsObject(env, account).replay(uid, deliveryId, requestId);
  if ("delivery" in replayed) return replayed.delivery;
  if (replayed.refused === "unknown") {
    throw new Refusal("unknown_error", { reason: "unknown", message: "This webhook has no such delivery." });
  }
  throw new Refusal("unknown_error", { message: "Too many deliveries of this webhook are already waiting." });
}

/** The refusal for an unknown id, and for text that is not a valid id. */
const noSuchWebhook = () => new Refusal("unknown_error", { reason: "unknown", message: "You have no such webhook." });

function parseWebhookUrl(rules: OutsideRules, text: string): string {
  const url = URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol)) throw refused("The url must be an http or https URL.");
  if (url.username !== "" || url.password !== "") throw refused("The url must not contain credentials.");
  if (!isReachable(rules, url)) throw refused("The url points to a private network.");
  url.hash = "";
  return url.href;
}

/** Parses comma-separated names. The default is all events. */
function parseEvents(text: string | undefined): EventName[] {
  if (text === undefined) return [...eventNames];
  const asked = text.split(",").map((name) => name.trim());
  const unknown = asked.find((name) => !eventNames.some((known) => known === name));
  if (unknown !== undefined)
    throw refused(`There is no event ${JSON.stringify(unknown)}: use ${eventNames.join(", ")}.`);
  return eventNames.filter((name) => asked.includes(name));
}

const refused = (message: string) => new Refusal("invalid_value", { message });
