import { env } from "cloudflare:workers";
import { eventsObject } from "#domain/events/events";
import type { Announcement } from "#model/announcement";
import type { EventName } from "#model/event-names";
import type { Client } from "./client.ts";
import { readXml } from "./xml.ts";

export const objectOf = ({ accountUid }: Client) => eventsObject(env, { uid: accountUid });

let announced = 0;

/** Announces an event of a build that does not exist. */
export async function announceOne(
  tux: Client,
  event: EventName = "build.finished",
  more: Partial<Announcement> = {},
): Promise<void> {
  announced += 1;
  const build = { id: 7, appliance_id: 5, name: "Kiosk", version: "0.0.1", image_type: "oem", state: "", message: "" };
  const announcement = { key: `test ${announced}`, event, at: Date.now(), account: tux.username, subject: { build } };
  await objectOf(tux).announce({ ...announcement, ...more });
}

/** No server answers at this URL. Webhook tests have their own receivers. */
export const hookUrl = "https://hooks.example.org/";

/** Makes a webhook and one of its deliveries. */
export async function webhookIds(tux: Client): Promise<{ webhook: string; delivery: string }> {
  const { webhook } = await readXml(await tux.post("/webhooks", { url: hookUrl }));
  await announceOne(tux);
  const { deliveries } = await readXml(await tux.get(`/webhooks/${webhook.id}/deliveries`));
  return { webhook: webhook.id, delivery: deliveries.delivery.id };
}

interface ReadEvent {
  id: string;
  event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows what it was sent
  data: any;
}

/** A client of the stream, which returns events in order. */
export interface Listener {
  /** The next event; skips comments. */
  next: () => Promise<ReadEvent>;
  /** The next block unchanged, including comments. Undefined at the end of the stream. */
  block: () => Promise<string | undefined>;
  close: () => Promise<void>;
}

export async function listen(tux: Client, lastEventId?: string): Promise<Listener> {
  const headers = new Headers(lastEventId === undefined ? {} : { "last-event-id": lastEventId });
  const answer = await tux.get("/events", { headers });
  if (!answer.ok || !answer.body) throw new Error(`${answer.status} ${await answer.text()}`);
  return listenerOf(answer.body);
}

export function listenerOf(body: ReadableStream<Uint8Array>): Listener {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const block = async (): Promise<string | undefined> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const first = text.slice(0, end);
        text = text.slice(end + 2);
        return first;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += decoder.decode(value, { stream: true });
    }
  };
  const next = async (): Promise<ReadEvent> => {
    for (;;) {
      const one = await block();
      if (one === undefined) throw new Error("the stream is over");
      const event = eventIn(one);
      if (event) return event;
    }
  };
  return { next, block, close: () => reader.cancel() };
}

function eventIn(block: string): ReadEvent | undefined {
  const fields = new Map(block.split("\n").map((line) => [line.split(": ", 1)[0] ?? "", line.replace(/^\w*: /, "")]));
  const data = fields.get("data");
  if (data === undefined) return undefined;
  return { id: fields.get("id") ?? "", event: fields.get("event") ?? "", data: JSON.parse(data) };
}
