import { WebhookRequest } from "#api/webhooks";
import { v2, xml, type Group } from "#openapi/operation";
import { deliveries, deliveryDocument, newWebhook, webhook, webhooks } from "#openapi/shapes/events";
import { success } from "#openapi/shapes/general";

export const events: Group = {
  title: "Events",
  about:
    "Ours: what happens to your builds, testdrives and publications, as a stream to listen to or posted to an address of yours.",
  operations: [
    {
      name: "followEvents",
      method: "GET",
      path: "/events",
      versions: v2,
      summary: "Your events as they happen",
      details:
        "Server-sent events from now on. Last-Event-ID resumes behind that event: the last 1000 of 7 days are kept. The stream " +
        "is cut after an hour; clients come again by themselves.",
      answer: { kind: "file", types: ["text/event-stream"], what: "Does not end by itself." },
      refusals: ["invalid_value", "unknown_error"],
    },
    {
      name: "listWebhooks",
      method: "GET",
      path: "/webhooks",
      versions: v2,
      summary: "Your webhooks",
      answer: xml(webhooks),
    },
    {
      name: "createWebhook",
      method: "POST",
      path: "/webhooks",
      versions: v2,
      summary: "Have events posted to an address",
      details: "The answer shows the secret that signs the deliveries, once.",
      params: WebhookRequest,
      about: { url: "Where to post to, by http or https." },
      answer: xml(newWebhook),
      refusals: ["missing_parameter", "invalid_value", "unknown_error"],
    },
    {
      name: "getWebhook",
      method: "GET",
      path: "/webhooks/{webhook_id}",
      versions: v2,
      summary: "One webhook",
      answer: xml(webhook),
      unknown: ["unknown_error"],
    },
    {
      name: "deleteWebhook",
      method: "DELETE",
      path: "/webhooks/{webhook_id}",
      versions: v2,
      summary: "Delete it, with what it still was to be sent",
      answer: xml(success),
      unknown: ["unknown_error"],
    },
    {
      name: "listDeliveries",
      method: "GET",
      path: "/webhooks/{webhook_id}/deliveries",
      versions: v2,
      summary: "Its last 100 deliveries, newest first",
      answer: xml(deliveries),
      unknown: ["unknown_error"],
    },
    {
      name: "replayDelivery",
      method: "POST",
      path: "/webhooks/{webhook_id}/deliveries/{delivery_id}/replay",
      versions: v2,
      summary: "Send the same body again",
      details: "As a delivery of its own. A disabled webhook that takes it is enabled again.",
      answer: xml(deliveryDocument),
      unknown: ["unknown_error"],
      refusals: ["unknown_error"],
    },
  ],
};
