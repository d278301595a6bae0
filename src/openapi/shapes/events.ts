import { eventNames } from "#domain/events/names";
import { arrayOf, document, fields, id, int, oneOf, optional, text, time, url } from "#openapi/shape";

const [firstEvent, ...otherEvents] = eventNames;
const eventName = oneOf(firstEvent, ...otherEvents);

const webhookFields = {
  id: id(3),
  url: url("https://hooks.example.org/kiln"),
  events: arrayOf("event", eventName),
  state: oneOf("enabled", "disabled"),
  reason: optional(text("It took nothing since 2026-11-18T09:00:00.000Z. The receiver answered 410.")),
  failing_since: optional(time("2026-11-18T09:00:00Z")),
  created_at: time("2026-11-01T09:00:00Z"),
};

const delivery = fields({
  id: id(41),
  event_id: id(17),
  event: eventName,
  state: oneOf("delivered", "waiting", "failed"),
  attempts: int(1),
  http_status: optional(int(200)),
  problem: optional(text("The receiver cannot be reached.")),
  created_at: time("2026-11-21T09:00:00Z"),
  attempted_at: optional(time("2026-11-21T09:00:01Z")),
  next_attempt_at: optional(time("2026-11-21T09:00:11Z")),
});

export const webhook = document("Webhook", "webhook", fields(webhookFields));
export const newWebhook = document(
  "NewWebhook",
  "webhook",
  fields({ ...webhookFields, secret: text("hV3q0yQm5oVbJ2kq4s8nW1xZ7cR9tL6d") }),
);
export const webhooks = document("Webhooks", "webhooks", arrayOf("webhook", fields(webhookFields)));
export const deliveries = document("Deliveries", "deliveries", arrayOf("delivery", delivery));
export const deliveryDocument = document("Delivery", "delivery", delivery);
