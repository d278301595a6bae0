import type { Delivery } from "#domain/events/webhook";
import type { Webhook } from "#storage/webhooks";
import { arrayOf, type XmlFields } from "#wire/xml";

/** The secret is shown once: when the webhook is made. */
export const webhookFields = (webhook: Webhook, secret?: string): XmlFields => ({
  id: webhook.id,
  url: webhook.url,
  events: arrayOf("event", webhook.events),
  state: webhook.disabledReason === null ? "enabled" : "disabled",
  reason: webhook.disabledReason ?? undefined,
  failing_since: webhook.failingSince ?? undefined,
  created_at: webhook.createdAt,
  secret,
});

export const deliveryFields = (delivery: Delivery): XmlFields => ({
  id: delivery.id,
  event_id: delivery.eventId,
  event: delivery.event,
  state: delivery.state,
  attempts: delivery.attempts,
  http_status: delivery.status ?? undefined,
  problem: delivery.problem ?? undefined,
  created_at: new Date(delivery.createdAt),
  attempted_at: moment(delivery.attemptedAt),
  next_attempt_at: moment(delivery.nextAt),
});

const moment = (at: number | null) => (at === null ? undefined : new Date(at));
