import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { mailbox } from "#domain/jobs";
import { app } from "../../src/app.ts";
import { visit } from "../support/client.ts";
import { fakeAgent } from "../support/fake-agent.ts";

const path = (verb: string) => `/client/v4/accounts/any/queues/any/messages/${verb}`;

const headers = { authorization: "Bearer test-gateway-token", "content-type": "application/json" };

interface Pulled {
  id: string;
  body: string;
  attempts: number;
  lease_id: string;
}

async function pull(body: object = {}): Promise<Pulled[]> {
  const answer = await visit(path("pull"), { method: "POST", headers, body: JSON.stringify(body) });
  const { success, result } = await answer.json<{ success: boolean; result: { messages: Pulled[] } }>();
  expect(success).toBe(true);
  return result.messages;
}

async function acknowledge(body: object) {
  const answer = await visit(path("ack"), { method: "POST", headers, body: JSON.stringify(body) });
  return (await answer.json<{ result: object }>()).result;
}

const send = (...buildIds: number[]) =>
  mailbox(env).put(
    buildIds.map((buildId) => ({
      id: crypto.randomUUID(),
      body: JSON.stringify({ kind: "build", buildId }),
      sentAt: Date.now(),
    })),
  );

beforeEach(async () => {
  await runInDurableObject(mailbox(env), (_mailbox, { storage }) => void storage.sql.exec("DELETE FROM letters"));
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("the queue gateway", () => {
  it("delivers messages in Cloudflare's form, with the JSON in base64", async () => {
    await send(7);

    const [message] = await pull();

    expect(message).toEqual({
      id: expect.any(String),
      body: btoa('{"kind":"build","buildId":7}'),
      timestamp_ms: expect.any(Number),
      attempts: 1,
      lease_id: expect.any(String),
      metadata: { "CF-Content-Type": "json" },
    });
  });

  it("delivers a message again after its lease, until it is acknowledged", async () => {
    vi.useFakeTimers({ toFake: ["Date"] }); // stops the clock
    await send(7);
    const [first] = await pull({ visibility_timeout_ms: 1000 });
    expect(await pull()).toEqual([]);
    vi.setSystemTime(Date.now() + 1000);

    const [again] = await pull();

    expect(again).toMatchObject({ id: first?.id, attempts: 2 });
    expect(await acknowledge({ acks: [{ lease_id: first?.lease_id }] })).toMatchObject({ ackCount: 1, warnings: {} });
    vi.setSystemTime(Date.now() + 60_000);
    expect(await pull()).toEqual([]);
  });

  it("redelivers a message after the requested delay, within its lease only", async () => {
    await send(7);
    const [message] = await pull();
    const retries = [{ lease_id: message?.lease_id, delay_seconds: 10 }];

    expect(await acknowledge({ retries })).toMatchObject({ retryCount: 1 });
    expect(await acknowledge({ retries })).toMatchObject({ retryCount: 0, warnings: expect.any(Object) });
    expect(await pull()).toEqual([]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
    expect(await pull()).toHaveLength(1);
  });

  it("stores one wake-up per build while none is pulled", async () => {
    await send(7);
    await send(7, 8);
    await send(7);

    expect(await pull({ batch_size: 100 })).toHaveLength(2);
  });

  it("accepts a new wake-up for a build whose message is leased", async () => {
    await send(7);
    await pull();
    await send(7);

    expect(await pull()).toHaveLength(1);
  });

  it("drops a message after six deliveries", async () => {
    await send(7);
    for (let time = 0; time < 6; time += 1) expect(await pull({ visibility_timeout_ms: 0 })).toHaveLength(1);

    expect(await pull({ visibility_timeout_ms: 0 })).toEqual([]);
  });

  it("delivers the requested number, oldest first, and reports the backlog", async () => {
    await send(1, 2, 3);

    const answer = await visit(path("pull"), { method: "POST", headers, body: '{"batch_size":2}' });

    const { result } = await answer.json<{ result: { message_backlog_count: number; messages: Pulled[] } }>();
    expect(result.message_backlog_count).toBe(3);
    expect(result.messages.map(({ body }) => JSON.parse(atob(body)).buildId)).toEqual([1, 2]);
  });

  it.each([
    ["a batch of 0", '{"batch_size":0}'],
    ["a batch of 101", '{"batch_size":101}'],
    ["invalid JSON", "{"],
  ])("refuses %s with Cloudflare's error", async (_what, body) => {
    const answer = await visit(path("pull"), { method: "POST", headers, body });

    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ success: false, errors: [{ code: 10207 }], result: null });
  });

  it("accepts only an agent's own token", async () => {
    const { token } = await fakeAgent();
    const call = (authorization: string) => visit(path("pull"), { method: "POST", headers: { authorization } });

    expect((await call(`Bearer ${token}`)).status).toBe(200);
    expect((await call("Bearer nonsense")).status).toBe(403);
    expect((await visit(path("pull"), { method: "POST" })).status).toBe(403);
    expect((await visit(path("ack"), { method: "POST" })).status).toBe(403);
  });

  it("forwards production calls to Cloudflare with the service's token and queue", async () => {
    const answered = { success: true, errors: [], messages: [], result: { messages: [] } };
    const cloudflare = vi.spyOn(globalThis, "fetch").mockResolvedValue(Response.json(answered));
    const production = {
      MODE: "cloudflare",
      CLOUDFLARE_ACCOUNT_ID: "acc",
      QUEUE_ID: "q",
      QUEUE_API_TOKEN: "deep secret",
    };

    const request = { method: "POST", headers, body: '{"batch_size":3}' };
    const answer = await app.request(path("pull"), request, { ...env, ...production });

    expect(await answer.json()).toEqual(answered);
    expect(cloudflare).toHaveBeenCalledExactlyOnceWith(
      "https://api.cloudflare.com/client/v4/accounts/acc/queues/q/messages/pull",
      {
        method: "POST",
        headers: { authorization: "Bearer deep secret", "content-type": "application/json" },
        body: '{"batch_size":3}',
      },
    );
  });
});
