import type { Context } from "hono";
import { z } from "zod";
import { createWebhook, getWebhook, listDeliveries, removeWebhook, replayDelivery } from "#domain/events/webhook";
import { listWebhooks } from "#storage/webhooks";
import { arrayOf } from "#wire/xml";
import { factory, type ApiEnv } from "#api/factory";
import { parseParams, pathId, readParams } from "#api/params";
import { success, xml } from "#api/respond";
import { v2Only } from "#api/v2-only";
import { deliveryFields, webhookFields } from "#api/views/webhook";

export const WebhookRequest = z.object({
  url: z.string({ error: "missing_parameter" }).max(1000, "invalid_value"),
  events: z.string().max(1000, "invalid_value").optional(),
});

/** Addresses that are told of the account's events, and how that went. */
export const webhooks = factory
  .createApp()
  .get("/webhooks", v2Only, async (c) => {
    const all = await listWebhooks(c.var.db, c.var.account.id);
    const views = all.map((one) => webhookFields(one));
    return xml(c, "webhooks", arrayOf("webhook", views));
  })
  .post("/webhooks", v2Only, async (c) => {
    const request = parseParams(WebhookRequest, await readParams(c));

    const { webhook, secret } = await createWebhook(c.env, c.var.db, c.var.account.id, request);

    c.header("Cache-Control", "no-store");
    return xml(c, "webhook", webhookFields(webhook, secret));
  })
  .get("/webhooks/:id", v2Only, async (c) =>
    xml(c, "webhook", webhookFields(await getWebhook(c.var.db, c.var.account.id, webhookId(c)))),
  )
  .delete("/webhooks/:id", v2Only, async (c) => {
    await removeWebhook(c.env, c.var.db, c.var.account, webhookId(c));
    return success(c);
  })
  .get("/webhooks/:id/deliveries", v2Only, async (c) => {
    const all = await listDeliveries(c.env, c.var.db, c.var.account, webhookId(c));
    return xml(c, "deliveries", arrayOf("delivery", all.map(deliveryFields)));
  })
  .post("/webhooks/:id/deliveries/:deliveryId/replay", v2Only, async (c) => {
    const asked = { webhookId: webhookId(c), deliveryId: pathId(c, "deliveryId", "unknown_error") };
    const delivery = await replayDelivery(c.env, c.var.db, c.var.account, asked);
    return xml(c, "delivery", deliveryFields(delivery));
  });

const webhookId = (c: Context<ApiEnv>) => pathId(c, "id", "unknown_error");
