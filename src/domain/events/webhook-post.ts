import { outsideFetch, type OutsideEnv } from "#domain/outside";
import { isReachable } from "#domain/repositories/address";
import { decrypt, keyedHash } from "#domain/secrets";
import type { Webhook } from "#storage/webhooks";

/** How one attempt went: the receiver's status, or why there was none. */
export type Outcome = { status: number } | { problem: string };

/** Only a 2xx is a success. */
export const hasSucceeded = (outcome: Outcome): boolean =>
  "status" in outcome && outcome.status >= 200 && outcome.status < 300;

export const failureOf = (outcome: Outcome): string =>
  "status" in outcome ? `The receiver answered ${outcome.status}.` : outcome.problem;

/** One POST to a webhook. */
export interface WebhookMessage {
  deliveryId: number;
  event: string;
  /** JSON. */
  body: string;
}

const postWithinMs = 10_000;

/**
 * Posts a signed message. Checks the URL each time, since the rules may have changed. A redirect is a failure and is not followed,
 * because it could lead to an address that the owner did not choose.
 */
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
  const signal = AbortSignal.timeout(postWithinMs);
  try {
    const answer = await outsideFetch(env)(url.href, { method: "POST", redirect: "manual", signal, headers, body });
    await answer.body?.cancel();
    return { status: answer.status };
  } catch {
    const silent = `The receiver did not answer within ${postWithinMs / 1000} seconds.`;
    return { problem: signal.aborted ? silent : "The receiver cannot be reached." };
  }
}

/** `t=<unix seconds>,v1=<hex>`: HMAC-SHA-256 with the webhook's secret over `<t>.<body>`, so that an old message has an old time. */
export const signatureOf = async (secret: string, body: string, seconds: number): Promise<string> =>
  `t=${seconds},v1=${keyedHash(secret, `${seconds}.${body}`)}`;
