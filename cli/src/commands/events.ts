import { follow, readStream, type StreamEvent } from "../client/event-stream.ts";
import { command, flag, value } from "../command.ts";
import type { Kiln } from "../kiln.ts";
import { closedOutput } from "../output/closed-output.ts";
import { wordsOf, type Announced } from "../output/event.ts";
import { moment, table, visible } from "../output/table.ts";
import { numberOf } from "../resolve.ts";

/** Stored events arrive immediately. If no more arrive for this long, those were all. */
const quietMs = { atFirst: 5_000, later: 500 };

export const events = [
  command("events", {
    summary: "Print what happened to your builds, testdrives and publications",
    options: {
      follow: flag("continue with what happens from now on", "f"),
      after: value("id", "only events after this one; the default is all that are stored, or none with --follow"),
    },
    examples: ["kiln events --follow --json"],
    act: async (kiln, { follow: isFollowed, after }) => {
      if (!isFollowed) return await printStored(kiln, after ?? "0");
      const signal = closedOutput();
      for await (const event of follow(kiln.client, "followEvents", {}, { after, signal })) printEvent(kiln, event);
    },
  }),
  command("webhook list", {
    summary: "List the addresses that get your events",
    act: async ({ client, show, paint }) => {
      const answer = await client.call("listWebhooks", {});
      const rows = answer.webhooks.map((one) => [one.id, one.url, one.state, one.reason ?? one.events.join(",")]);
      show(answer, () => table(paint, ["ID", "URL", "STATE", "EVENTS OR REASON"], rows));
    },
  }),
  command("webhook add <url>", {
    summary: "Have your events posted to an address",
    details:
      "The secret, with which the service signs what it posts, is shown only once. Needs your API key: no token can.",
    options: { events: value("events", "only these, such as build.finished,build.failed") },
    act: async ({ client, show }, { url, events: names }) => {
      const answer = await client.call("createWebhook", { url, events: names });
      show(
        answer,
        () => `Webhook ${answer.webhook.id}. Its secret, which is not shown again: ${answer.webhook.secret}`,
      );
    },
  }),
  command("webhook remove <webhook>", {
    summary: "Delete a webhook",
    act: async ({ client, show }, { webhook }) => {
      const answer = await client.call("deleteWebhook", { webhook_id: numberOf(webhook, "webhook") });
      show(answer, () => `Deleted webhook ${webhook}.`);
    },
  }),
  command("webhook deliveries <webhook>", {
    summary: "List the last deliveries of a webhook",
    act: async ({ client, show, paint }, { webhook }) => {
      const answer = await client.call("listDeliveries", { webhook_id: numberOf(webhook, "webhook") });
      const rows = answer.deliveries.map((one) => [
        one.id,
        one.event,
        one.state,
        one.attempts,
        one.http_status ?? one.problem,
        moment(one.next_attempt_at),
      ]);
      show(answer, () => table(paint, ["ID", "EVENT", "STATE", "ATTEMPTS", "ANSWER", "NEXT"], rows));
    },
  }),
  command("webhook replay <webhook> <delivery>", {
    summary: "Send a delivery again",
    act: async ({ client, show }, { webhook, delivery }) => {
      const answer = await client.call("replayDelivery", {
        webhook_id: numberOf(webhook, "webhook"),
        delivery_id: numberOf(delivery, "delivery"),
      });
      show(answer, () => `It is sent again as delivery ${answer.delivery.id}.`);
    },
  }),
];

async function printStored(kiln: Kiln, after: string): Promise<void> {
  const ended = new AbortController();
  const endAfter = (ms: number) => setTimeout(() => ended.abort(), ms);
  let clock: ReturnType<typeof endAfter> | undefined;
  // Begins only now, because the service may need longer to answer.
  const onOpen = () => (clock = endAfter(quietMs.atFirst));
  try {
    for await (const event of readStream(kiln.client, "followEvents", {}, { after, signal: ended.signal, onOpen })) {
      clearTimeout(clock);
      clock = endAfter(quietMs.later);
      printEvent(kiln, event);
    }
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  } finally {
    clearTimeout(clock);
  }
}

function printEvent(kiln: Kiln, { id, event, data }: StreamEvent): void {
  const announced = JSON.parse(data) as Announced;
  if (kiln.isJson) return kiln.print(JSON.stringify(announced));
  const words = visible(wordsOf(event, announced));
  return kiln.print(
    `${(id ?? "").padStart(4)}  ${moment(announced.created_at) ?? ""}  ${event.padEnd(17)}  ${words}`.trimEnd(),
  );
}
