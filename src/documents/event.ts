import type { Delivery } from "#domain/events/webhook";
import { eventNames } from "#model/event-names";
import type { Webhook } from "#storage/webhooks";
import { arrayOf, fields, id, inside, int, oneOf, text, time, url } from "#lib/wire/field";
import * as leaves from "#lib/wire/leaf";
import { document } from "#lib/wire/shape";

const webhookFields = {
  id: id("id", 3),
  url: url("url", "https://hooks.example.org/kiln"),
  events: inside("events", arrayOf("event", leaves.oneOf(eventNames))),
  state: oneOf(
    ({ disabledReason }: Webhook) => (disabledReason === null ? "enabled" : "disabled"),
    ["enabled", "disabled"],
  ),
  reason: text(
    "disabledReason",
    "It has accepted nothing since 2026-11-18T09:00:00.000Z. The receiver answered 410.",
  ).optional(),
  failing_since: time("failingSince", "2026-11-18T09:00:00Z").optional(),
  created_at: time("createdAt", "2026-11-01T09:00:00Z"),
};
const webhookShape = fields(webhookFields);

export const webhook = document("Webhook", "webhook", webhookShape);
export const webhooks = document("Webhooks", "webhooks", arrayOf("webhook", webhookShape));
/** The secret is shown only once, when the webhook is created. */
export const newWebhook = document(
  "NewWebhook",
  "webhook",
  fields({ ...webhookFields, secret: text("secret", "hV3q0yQm5oVbJ2kq4s8nW1xZ7cR9tL6d") }),
);

const deliveryShape = fields({
  id: id("id", 41),
  event_id: id("eventId", 17),
  event: oneOf("event", eventNames),
  state: oneOf("state", ["delivered", "waiting", "failed"]),
  attempts: int("attempts", 1),
  http_status: int("status", 200).optional(),
  problem: text("problem", "The receiver cannot be reached.").optional(),
  created_at: time(({ createdAt }: Delivery) => new Date(createdAt), "2026-11-21T09:00:00Z"),
  attempted_at: time(({ attemptedAt }: Delivery) => moment(attemptedAt), "2026-11-21T09:00:01Z").optional(),
  next_attempt_at: time(({ nextAt }: Delivery) => moment(nextAt), "2026-11-21T09:00:11Z").optional(),
});

export const delivery = document("Delivery", "delivery", deliveryShape);
export const deliveries = document("Deliveries", "deliveries", arrayOf("delivery", deliveryShape));

const moment = (at: number | null) => (at === null ? undefined : new Date(at));
