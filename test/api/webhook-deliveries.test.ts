import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { signatureOf } from "#domain/events/webhook-post";
import { maxListed } from "#objects/webhook-deliveries";
import { signedIn } from "../support/client.ts";
import { announceOne, objectOf } from "../support/events.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import {
  alarmOf,
  deliveriesOf,
  webhookOf,
  createWebhook,
  moveClock,
  newAddress,
  receiver,
  runDeliveries,
} from "../support/webhooks.ts";
import { readXml } from "../support/xml.ts";

const dayMs = 24 * 60 * 60_000;
/** A new address for each test. */
let address: string;

beforeEach(() => {
  moveClock();
  address = newAddress();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a delivery", () => {
  it("is posted with a signature over time and body", async () => {
    const { posted } = receiver(address, () => new Response(null, { status: 204 }));
    const tux = await signedIn();
    const { id, secret } = await createWebhook(tux, address);
    const buildId = await startBuild(tux, await createAppliance(tux));

    await runDeliveries(tux);

    const [{ url, init, headers, body } = expect.fail("nothing was posted")] = posted;
    expect(url).toBe(address);
    expect(init).toMatchObject({ method: "POST", redirect: "manual", signal: expect.any(AbortSignal) });
    const signature = headers.get("kiln-signature") ?? "";
    const seconds = Number(/^t=(\d+),v1=[0-9a-f]{64}$/.exec(signature)?.[1]);
    expect(Math.abs(seconds - Date.now() / 1000)).toBeLessThan(10);
    expect(signature).toBe(await signatureOf(secret, body, seconds));
    expect(JSON.parse(body)).toMatchObject({ id: 1, event: "build.queued", build: { id: buildId, state: "queued" } });
    const [delivery] = await deliveriesOf(tux, id);
    expect(headers.get("kiln-delivery")).toBe(delivery.id);
    expect(delivery).toMatchObject({ state: "delivered", attempts: "1", http_status: "204", event: "build.queued" });
    expect(delivery.next_attempt_at).toBeUndefined();
  });

  it("has a signature that other tools can reproduce", async () => {
    // printf '1700000000.{"id":1}' | openssl dgst -sha256 -hmac secret
    expect(await signatureOf("secret", '{"id":1}', 1_700_000_000)).toBe(
      "t=1700000000,v1=3dd1b9aef568d75f6790a84bd2e5dfa1f44409eef3cbdbd3f10b837376100c11",
    );
  });

  it("is sent only for the chosen events", async () => {
    const { posted } = receiver(address);
    const tux = await signedIn();
    await createWebhook(tux, address, { events: "build.failed" });

    await announceOne(tux, "build.finished");
    await announceOne(tux, "build.failed");
    await runDeliveries(tux);

    expect(posted.map(({ headers }) => headers.get("kiln-event"))).toEqual(["build.failed"]);
  });

  it.each([
    ["an error", () => new Response(null, { status: 500 }), { http_status: "500" }],
    ["a redirect", () => Response.redirect("https://elsewhere.example.org/"), { http_status: "302" }],
    ["no connection", () => Promise.reject(new Error("refused")), { problem: "The receiver cannot be reached." }],
  ])("is retried after %s", async (_, answer, shown) => {
    const { posted, handler } = receiver(address, answer);
    const tux = await signedIn();
    const { id } = await createWebhook(tux, address);
    await announceOne(tux);

    await runDeliveries(tux);

    const [waiting] = await deliveriesOf(tux, id);
    expect(waiting).toMatchObject({ state: "waiting", attempts: "1", ...shown });
    expect(waiting.next_attempt_at).toMatch(/UTC$/);
    handler.answer = () => new Response();
    moveClock(20_000);
    await runDeliveries(tux);
    expect((await deliveriesOf(tux, id))[0]).toMatchObject({ state: "delivered", attempts: "2", http_status: "200" });
    expect(posted.map(({ body }) => body)).toEqual([posted[0]?.body, posted[0]?.body]);
    expect(new Set(posted.map(({ headers }) => headers.get("kiln-signature"))).size).toBe(2);
  });

  it("is dropped after a day", async () => {
    receiver(address, () => new Response(null, { status: 500 }));
    const tux = await signedIn();
    const { id } = await createWebhook(tux, address);
    await announceOne(tux);
    await runDeliveries(tux);

    moveClock(dayMs);
    await runDeliveries(tux);

    expect((await deliveriesOf(tux, id))[0]).toMatchObject({ state: "failed", attempts: "2" });
    expect(await alarmOf(tux)).toBeNull();
  });

  it("is not sent without its secret", async () => {
    const { posted } = receiver(address);
    const tux = await signedIn();
    const { id } = await createWebhook(tux, address);
    await env.DB.prepare("UPDATE webhooks SET secret_cipher = 'AAAA' WHERE id = ?").bind(id).run();
    await announceOne(tux);

    await runDeliveries(tux);

    expect(posted).toEqual([]);
    expect((await deliveriesOf(tux, id))[0].problem).toMatch(/secret/);
  });

  it("is not sent to an address that has become private", async () => {
    const { posted } = receiver(address);
    const tux = await signedIn();
    const { id } = await createWebhook(tux, address);
    await env.DB.prepare("UPDATE webhooks SET url = 'http://10.0.0.1/' WHERE id = ?").bind(id).run();
    await announceOne(tux);

    await runDeliveries(tux);

    expect(posted).toEqual([]);
    expect((await deliveriesOf(tux, id))[0].problem).toMatch(/private network/);
  });

  it("is sent again on request, with the same body", async () => {
    const { posted } = receiver(address);
    const tux = await signedIn();
    const { id } = await createWebhook(tux, address);
    await announceOne(tux);
    await runDeliveries(tux);
    const [first] = await deliveriesOf(tux, id);

    const { delivery } = await readXml(await tux.post(`/webhooks/${id}/deliveries/${first.id}/replay`));
    await runDeliveries(tux);

    expect(delivery).toMatchObject({ event_id: first.event_id, state: "waiting", attempts: "0" });
    expect(delivery.id).not.toBe(first.id);
    expect(posted[1]?.body).toBe(posted[0]?.body);
    expect((await deliveriesOf(tux, id)).map(({ state }) => state)).toEqual(["delivered", "delivered"]);
  });

  it("is listed among the last hundred", async () => {
    receiver(address);
    const tux = await signedIn();
    const { id } = await createWebhook(tux, address);
    await announceOne(tux);
    await runDeliveries(tux);
    await runInDurableObject(objectOf(tux), (_, { storage }) => {
      const copied =
        "webhookId, eventId, event, body, state, attempts, nextAt, status, problem, createdAt, attemptedAt";
      const many = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${maxListed})`;
      storage.sql.exec(`INSERT INTO deliveries (${copied}) ${many} SELECT ${copied} FROM deliveries, n`);
    });
    await announceOne(tux);
    await runDeliveries(tux);

    const listed = await deliveriesOf(tux, id);

    expect(listed.map(({ id }) => Number(id))).toEqual(Array.from({ length: maxListed }, (_, i) => maxListed + 2 - i));
    const kept = await runInDurableObject(objectOf(tux), (_, { storage }) =>
      storage.sql.exec("SELECT count(*) AS kept FROM deliveries").one(),
    );
    expect(kept).toEqual({ kept: maxListed });
  });
});

/** A webhook that has been disabled. */
async function disabled() {
  const { posted, handler } = receiver(address, () => new Response(null, { status: 410 }));
  const tux = await signedIn();
  const { id } = await createWebhook(tux, address);
  await announceOne(tux);
  await runDeliveries(tux);
  moveClock(3 * dayMs);
  await announceOne(tux);
  await runDeliveries(tux);
  return { tux, id, posted, handler };
}

describe("a receiver that fails for days", () => {
  it("is disabled with a reason, and gets no more deliveries", async () => {
    const { tux, id, posted } = await disabled();

    expect(await webhookOf(tux, id)).toMatchObject({
      state: "disabled",
      reason: expect.stringMatching(/answered 410/),
    });
    const before = posted.length;
    await announceOne(tux);
    await runDeliveries(tux);
    expect(posted.length).toBe(before);
    expect((await deliveriesOf(tux, id)).map(({ state }) => state)).toEqual(["failed", "failed"]);
  });

  it("is enabled by a successful replay", async () => {
    const { tux, id, handler } = await disabled();
    handler.answer = () => new Response();
    const [last] = await deliveriesOf(tux, id);

    await tux.post(`/webhooks/${id}/deliveries/${last.id}/replay`);
    await runDeliveries(tux);

    const webhook = await webhookOf(tux, id);
    expect(webhook).toMatchObject({ state: "enabled" });
    expect(webhook.failing_since).toBeUndefined();
  });
});
