import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";
import type { Client } from "./client.ts";
import { objectOf } from "./events.ts";
import { readXml } from "./xml.ts";

/** What came to a webhook. */
export interface Posted {
  url: string;
  init: RequestInit;
  headers: Headers;
  body: string;
}

/** An address of a test's own: alarms of earlier ones may still ring. */
export const newAddress = () => `https://hooks.example.org/${crypto.randomUUID()}?a=1`;

/** Stands for the receiver's server; what it answers may change. */
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

/** A new webhook for that address. */
export async function made(
  tux: Client,
  url: string,
  params: Record<string, string> = {},
): Promise<{ id: string; secret: string }> {
  const { webhook } = await readXml(await tux.post("/webhooks", { url, ...params }));
  return webhook;
}

export const hookOf = async (tux: Client, id: string) => (await readXml(await tux.get(`/webhooks/${id}`))).webhook;

// oxlint-disable-next-line typescript/no-explicit-any -- texts of a document
export async function deliveriesOf(tux: Client, id: string): Promise<any[]> {
  const { deliveries } = await readXml(await tux.get(`/webhooks/${id}/deliveries`));
  return [deliveries.delivery ?? []].flat();
}

/** Lets the alarm ring until nothing is due. By itself it must not ring meanwhile (itIsLater): nobody knew when it had done all. */
export async function ring(tux: Client): Promise<void> {
  const due = () =>
    runInDurableObject(objectOf(tux), (_, { storage }) =>
      Number(storage.sql.exec("SELECT count(*) AS due FROM deliveries WHERE nextAt <= ?", Date.now()).one()["due"]),
    );
  do {
    await runDurableObjectAlarm(objectOf(tux));
  } while ((await due()) > 0);
}

export const alarmOf = (tux: Client) => runInDurableObject(objectOf(tux), (_, { storage }) => storage.getAlarm());

/** The clock that objects read. Once it is ahead of the real one, alarms do not ring but by the tests. */
export function itIsLater(ms = 60 * 60_000): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
}
