import { signedIn } from "../../support/client.ts";
import { hookUrl, objectOf, webhookIds } from "../../support/events.ts";
import { until } from "../../support/testdrives.ts";
import { refused, type Row } from "./row.ts";
import type { Sample } from "./sample.ts";

const fresh = async ({ ids }: Sample): Promise<Sample> => {
  const tux = await signedIn();
  return { tux, ids: { ...ids, ...(await webhookIds(tux)) } };
};

export const events: readonly Row[] = [
  {
    call: "GET /events",
    path: "/events",
    answer: "text/event-stream; charset=utf-8",
    fresh,
    // The stream would not end on its own.
    meanwhile: ({ tux }) => until(async () => ((await objectOf(tux).hangUp()) > 0 ? true : undefined)),
  },
  { call: "GET /feed", path: "/feed", answer: "application/atom+xml; charset=utf-8" },
  { call: "GET /webhooks", path: "/webhooks", answer: "webhooks" },
  {
    call: "POST /webhooks",
    path: `/webhooks?url=${hookUrl}&events=build.finished,build.failed`,
    answer: "webhook",
    fresh,
    refused: [
      refused("/webhooks", "missing_parameter"),
      refused("/webhooks?url=nonsense", "invalid_value"),
      refused("/webhooks?url=http://10.0.0.1/", "invalid_value"),
      refused(`/webhooks?url=${hookUrl}&events=build.exploded`, "invalid_value"),
    ],
  },
  {
    call: "GET /webhooks/{webhook_id}",
    path: "/webhooks/{webhook}",
    answer: "webhook",
    foreign: "unknown_error",
  },
  {
    call: "DELETE /webhooks/{webhook_id}",
    path: "/webhooks/{webhook}",
    answer: "success",
    fresh,
    foreign: "unknown_error",
  },
  {
    call: "GET /webhooks/{webhook_id}/deliveries",
    path: "/webhooks/{webhook}/deliveries",
    answer: "deliveries",
    foreign: "unknown_error",
  },
  {
    call: "POST /webhooks/{webhook_id}/deliveries/{delivery_id}/replay",
    path: "/webhooks/{webhook}/deliveries/{delivery}/replay",
    answer: "delivery",
    foreign: "unknown_error",
  },
];
