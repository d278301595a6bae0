import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";
import type { Client } from "./client.ts";
import { objectOf } from "./events.ts";
import { readXml } from "./xml.ts";

/** The messages that a webhook received. */
interface Posted {
  url: string;
  init: RequestInit;
  headers: Headers;
  body: string;
}

/** A URL for this test only, because alarms of earlier tests may still fire. */
export const newAddress = () => `https://hooks.example.org/${crypto.randomUUID()}?a=1`;

/** Replaces the receiver's server. Its answer may change. */
export function receiver(address: string, answer: () => Response | Promise<Response> = () => new Response()) {
  const posted: Posted[] = [];
  const handler = { answer };
  vi.spyOn(globalThis, "fetch").mockImplementation(async (url, init = {}) => {
    if (String(url) !== address) return new Response();
    posted.push({ url: String(url), init, headers: new Headers(init.headers), body: String(init.body) });
    return await handler.answer();
  });
  return { posted, handler };
}

export async function createWebhook(
  tux: Client,
  url: string,
  params: Record<string, string> = {},
): Promise<{ id: string; secret: string }> {
  const { webhook } = await readXml(await tux.post("/webhooks", { url, ...params }));
  return webhook;
}

export const webhookOf = async (tux: Client, id: string) => (await readXml(await tux.get(`/webhooks/${id}`))).webhook;

// oxlint-disable-next-line typescript/no-explicit-any -- texts of a document
export async function deliveriesOf(tux: Client, id: string): Promise<any[]> {
  const { deliveries } = await readXml(await tux.get(`/webhooks/${id}/deliveries`));
  return [deliveries.delivery ?? []].flat();
}

/**
 * Runs the alarm until nothing is due. The alarm must not fire on its own in between (moveClock), because the end would
 * then be unknown.
 */
export async function runDeliveries(tux: Client): Promise<void> {
  const due = () =>
    runInDurableObject(objectOf(tux), (_, { storage }) =>
      Number(storage.sql.exec("SELECT count(*) AS due FROM deliveries WHERE nextAt <= ?", Date.now()).one()["due"]),
    );
  do {
    await runDurableObjectAlarm(objectOf(tux));
  } while ((await due()) > 0);
}

export const alarmOf = (tux: Client) => runInDurableObject(objectOf(tux), (_, { storage }) => storage.getAlarm());

/** Moves the clock that objects read. When it is ahead of the real clock, only tests run alarms. */
export function moveClock(ms = 60 * 60_000): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
}
