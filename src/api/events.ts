import { z } from "zod";
import { deliveries, delivery, newWebhook, webhook, webhooks } from "#documents/event";
import { success } from "#documents/success";
import { followEvents } from "#domain/events/events";
import {
  createWebhook,
  getWebhook,
  listDeliveries,
  removeWebhook,
  replayDelivery,
  shownWebhook,
} from "#domain/events/webhook";
import { Refusal } from "#domain/refusal";
import { feedOfAccount } from "#domain/events/feed";
import { answerFeed, atomType } from "#http/feed";
import { eventStreamHeaders } from "#http/event-stream";
import { v2 } from "#api/operation";
import { listWebhooks } from "#storage/webhooks";
import { call, file, type CallGroup } from "#api/call";

const WebhookRequest = z.object({
  url: z.string({ error: "missing_parameter" }).max(1000, "invalid_value"),
  events: z.string().max(1000, "invalid_value").optional(),
});

const shownToTokens = "With a token, the URL has no path and no query: these often contain a secret of the receiver.";

const own = { access: "own", versions: v2 } as const;
const ofWebhook = { ...own, ids: { webhook_id: "unknown_error" } } as const;

export const events: CallGroup = {
  title: "Events",
  about:
    "A Kiln extension: what happens to your builds, testdrives and publications, as a stream or as POST requests to your URL.",
  operations: [
    call("GET /events", {
      name: "followEvents",
      ...own,
      summary: "Your events as they happen",
      details:
        "Server-sent events from now on. `Last-Event-ID` resumes after that event: the last 1000 of 7 days are stored. The stream " +
        "ends after an hour, and with the token that opened it; clients reconnect on their own.",
      answer: file("Stays open until you close it.", "text/event-stream"),
      refuses: ["invalid_value", "unknown_error"],
      act: async ({ env, account, access }, _request, c) => {
        const after = idIn(c.req.header("last-event-id"));
        if (c.req.method === "HEAD") return new Response(null, { headers: eventStreamHeaders });
        return new Response(await followEvents(env, account, { after, access }), { headers: eventStreamHeaders });
      },
    }),
    call("GET /feed", {
      name: "getFeed",
      ...own,
      rate: "reads",
      summary: "The events that matter, as an Atom feed",
      details:
        "New images, published versions, moves of channels, and images that are outdated or affected, newest first: at most 50 of the last 7 days. Feed " +
        "readers send the name of the account and a token, as for each call. An ETag saves the transfer.",
      answer: file("An Atom feed.", atomType),
      act: async ({ env, account, baseUrl }, _request, c) => {
        const self = `${baseUrl}${c.req.path}`;
        return answerFeed(c, await feedOfAccount(env, account, { baseUrl, self }));
      },
    }),
    call("GET /webhooks", {
      name: "listWebhooks",
      ...own,
      summary: "Your webhooks",
      details: shownToTokens,
      answer: webhooks,
      act: async ({ db, account, access }) =>
        (await listWebhooks(db, account.id)).map((each) => shownWebhook(each, access)),
    }),
    call("POST /webhooks", {
      name: "createWebhook",
      ...own,
      rate: "webhooks",
      scope: "key",
      summary: "Add a webhook, which gets events as POST requests",
      details: "The answer has the secret that signs the deliveries. It is shown only once.",
      params: WebhookRequest,
      about: { url: "An http or https URL: events are posted to it." },
      answer: newWebhook,
      isSecret: true,
      refuses: ["missing_parameter", "invalid_value", "unknown_error"],
      act: async ({ env, db, account, requestId }, { url, events }) => {
        const { webhook, secret } = await createWebhook({ env, db }, account.id, { url, events, requestId });
        return { ...webhook, secret };
      },
    }),
    call("GET /webhooks/{webhook_id}", {
      name: "getWebhook",
      ...ofWebhook,
      summary: "A webhook",
      details: shownToTokens,
      answer: webhook,
      act: async ({ db, account, access }, { webhook_id }) =>
        shownWebhook(await getWebhook(db, account.id, webhook_id), access),
    }),
    call("DELETE /webhooks/{webhook_id}", {
      name: "deleteWebhook",
      ...ofWebhook,
      scope: "key",
      summary: "Delete a webhook and its pending deliveries",
      answer: success,
      act: ({ env, db, account }, { webhook_id }) => removeWebhook({ env, db }, account, webhook_id),
    }),
    call("GET /webhooks/{webhook_id}/deliveries", {
      name: "listDeliveries",
      ...ofWebhook,
      summary: "The last 100 deliveries of a webhook, newest first",
      answer: deliveries,
      act: ({ env, db, account }, { webhook_id }) => listDeliveries({ env, db }, account, webhook_id),
    }),
    call("POST /webhooks/{webhook_id}/deliveries/{delivery_id}/replay", {
      name: "replayDelivery",
      ...own,
      rate: "webhooks",
      summary: "Send a delivery again",
      details:
        "It is a new delivery with the same body. If a disabled webhook accepts it, the webhook is enabled again.",
      ids: { webhook_id: "unknown_error", delivery_id: "unknown_error" },
      answer: delivery,
      refuses: ["unknown_error"],
      act: ({ env, db, account, requestId }, { webhook_id: webhookId, delivery_id: deliveryId }) =>
        replayDelivery({ env, db }, account, { webhookId, deliveryId, requestId }),
    }),
  ],
};

/** A client that has seen no event yet sends an empty header. */
function idIn(lastEventId: string | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw new Refusal("invalid_value", { message: "Last-Event-ID must be the id of an event, which is a number." });
}
