import type { Context } from "hono";
import { z } from "zod";
import { createWebhook, getWebhook, listDeliveries, removeWebhook, replayDelivery } from "#domain/events/webhook";
import { eventNames } from "#model/event-names";
import { listWebhooks } from "#storage/webhooks";
import { factory, type WebEnv } from "../../factory.ts";
import { submit } from "../../submit.ts";
import { accountPage } from "./account-page.tsx";
import { FreshSecret, type ShownSecret } from "./view.tsx";
import { DeliveriesView, WebhooksView, webhooksPath } from "./webhooks-view.tsx";

const one = `${webhooksPath}/:id{\\d{1,15}}`;
const WebhookForm = z.object({ url: z.string({ error: "Enter an address." }).max(1000, "This address is too long.") });

/** Webhooks and their deliveries. `accountPages` requires the session. */
export const webhookPages = factory
  .createApp()
  .get(webhooksPath, (c) => showWebhooks(c))
  .post(webhooksPath, (c) =>
    submit(c, {
      fields: WebhookForm,
      rate: "webhooks",
      fieldOf: { invalid_value: "url" },
      again: (c) => showWebhooks(c),
      act: async ({ url }, { all, requestId }) => {
        const asked = all("event");
        const events = asked.length === 0 || asked.length === eventNames.length ? undefined : asked.join(",");
        const { webhook, secret } = await createWebhook({ env: c.env, db: c.var.db }, c.var.account.id, {
          url,
          events,
          requestId,
        });
        return await showWebhooks(c, {
          title: "The webhook is ready.",
          secret,
          about: `Signs what is posted to ${new URL(webhook.url).host}.`,
        });
      },
    }),
  )
  .post(`${one}/delete`, (c) =>
    submit(c, {
      again: (c) => showWebhooks(c),
      act: async () => {
        await removeWebhook({ env: c.env, db: c.var.db }, c.var.account, idOf(c));
        return { to: webhooksPath, result: { text: "The webhook is deleted." } };
      },
    }),
  )
  .get(one, (c) => showDeliveries(c))
  .post(`${one}/deliveries/:delivery{\\d{1,15}}/replay`, (c) =>
    submit(c, {
      rate: "webhooks",
      again: showDeliveries,
      act: async (_, { requestId }) => {
        const ids = { webhookId: idOf(c), deliveryId: Number(c.req.param("delivery")) };
        await replayDelivery({ env: c.env, db: c.var.db }, c.var.account, { ...ids, requestId });
        return { to: `${webhooksPath}/${ids.webhookId}`, result: { text: "It is sent again, as a new delivery." } };
      },
    }),
  );

const idOf = (c: Context<WebEnv>): number => Number(c.req.param("id"));

async function showWebhooks(c: Context<WebEnv>, fresh?: ShownSecret): Promise<Response> {
  const webhooks = await listWebhooks(c.var.db, c.var.account.id);
  const content = (
    <>
      {fresh && <FreshSecret {...fresh} />}
      <WebhooksView webhooks={webhooks} />
    </>
  );
  return await accountPage(c, content, { title: "Webhooks", tab: webhooksPath });
}

async function showDeliveries(c: Context<WebEnv>): Promise<Response> {
  const { db, account } = c.var;
  const webhook = await getWebhook(db, account.id, idOf(c));
  const deliveries = await listDeliveries({ env: c.env, db }, account, webhook.id);
  const content = <DeliveriesView webhook={webhook} deliveries={deliveries} />;
  return await accountPage(c, content, { title: `Deliveries to ${new URL(webhook.url).host}`, tab: webhooksPath });
}
