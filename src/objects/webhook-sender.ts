import { afterAttempt, healthAfter, type Delivery } from "#domain/events/delivery";
import { failureOf, hasSucceeded } from "#domain/events/post";
import { postMessage } from "#domain/events/webhook-post";
import { openDatabase } from "#storage/db";
import { saveWebhookHealth, type Webhook, type WebhookHealth } from "#storage/webhooks";
import type { WebhookDeliveries } from "./webhook-deliveries.ts";

/** The maximum number of deliveries of one webhook per turn. */
const maxInTurn = 10;

/** Posts the stored deliveries, and records in D1 whether their webhook works. */
export class WebhookSender {
  readonly #deliveries: WebhookDeliveries;
  readonly #env: Env;

  constructor(deliveries: WebhookDeliveries, env: Env) {
    this.#deliveries = deliveries;
    this.#env = env;
  }

  /**
   * Sends the due deliveries in order. After a failure, the rest waits for the next turn, so that a dead receiver does
   * not delay the others.
   */
  async send(webhook: Webhook): Promise<void> {
    let health: WebhookHealth = webhook;
    for (const delivery of this.#deliveries.due(webhook.uid, Date.now(), maxInTurn)) {
      const attempt = await this.#attempt(webhook, delivery);
      const after = healthAfter(health, attempt, Date.now());
      await this.#saveHealth(webhook, health, after);
      if (!attempt.succeeded) return;
      health = after;
    }
  }

  async #attempt(webhook: Webhook, delivery: Delivery): Promise<{ succeeded: boolean; reason: string }> {
    const { id: deliveryId, event, body } = delivery;
    const outcome = await postMessage(this.#env, webhook, { deliveryId, event, body });
    const succeeded = hasSucceeded(outcome);
    const at = Date.now();
    const attempted = afterAttempt(delivery, succeeded, { at, random: Math.random() });
    this.#deliveries.record(delivery, attempted, { ...outcome, at });
    return { succeeded, reason: failureOf(outcome) };
  }

  async #saveHealth({ id, uid }: Webhook, before: WebhookHealth, after: WebhookHealth): Promise<void> {
    if (after.disabledReason !== null) this.#deliveries.giveUp(uid);
    const isSame =
      after.failingSince?.getTime() === before.failingSince?.getTime() &&
      after.disabledReason === before.disabledReason;
    if (!isSame) await saveWebhookHealth(openDatabase(this.#env), id, after);
  }
}
