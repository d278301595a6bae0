import { post, type Outcome } from "#domain/events/post";
import { outsideFetch, type OutsideEnv } from "#domain/outside";
import { isReachable } from "#domain/repositories/address";
import { decrypt, keyedHash } from "#domain/secrets";
import type { Webhook } from "#storage/webhooks";

/** One POST to a webhook. */
export interface WebhookMessage {
  deliveryId: number;
  event: string;
  /** JSON. */
  body: string;
}

/** Posts a signed message. Checks the URL each time, because the rules may have changed. */
export async function postMessage(
  env: OutsideEnv & Pick<Env, "API_KEY_ENCRYPTION_KEY">,
  webhook: Pick<Webhook, "url" | "secretCipher">,
  { deliveryId, event, body }: WebhookMessage,
): Promise<Outcome> {
  const url = new URL(webhook.url);
  if (!isReachable(env, url)) return { problem: "The address points to a private network." };
  const secret = await decrypt(env.API_KEY_ENCRYPTION_KEY, webhook.secretCipher).catch(() => undefined);
  if (secret === undefined)
    return { problem: "The secret of this webhook was lost. Delete the webhook and add it again." };
  const headers = {
    "Content-Type": "application/json; charset=utf-8",
    "User-Agent": "Kiln-Webhooks",
    "Kiln-Event": event,
    "Kiln-Delivery": String(deliveryId),
    "Kiln-Signature": await signatureOf(secret, body, Math.floor(Date.now() / 1000)),
  };
  return await post(outsideFetch(env), url.href, { headers, body });
}

/**
 * `t=<unix seconds>,v1=<hex>`: HMAC-SHA-256 with the webhook's secret over `<t>.<body>`, so that a receiver can
 * recognise an old message by its time.
 */
export const signatureOf = async (secret: string, body: string, seconds: number): Promise<string> =>
  `t=${seconds},v1=${keyedHash(secret, `${seconds}.${body}`)}`;
