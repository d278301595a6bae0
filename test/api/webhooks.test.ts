import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { signedIn, visit } from "../support/client.ts";
import { announceOne } from "../support/events.ts";
import {
  alarmOf,
  webhookOf,
  createWebhook,
  moveClock,
  newAddress,
  receiver,
  runDeliveries,
} from "../support/webhooks.ts";
import { tokenOf } from "../support/tokens.ts";
import { expectError, readXml } from "../support/xml.ts";

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

describe("a webhook", () => {
  it("shows its whole URL to the key only", async () => {
    const tux = await signedIn();
    const url = "https://hooks.example.org:8443/services/T0/secret?token=secret";
    const { webhook } = await readXml(await tux.post("/webhooks", { url }));
    const { client } = await tokenOf(tux, { scope: "publish" });

    for (const path of ["/webhooks", `/webhooks/${webhook.id}`]) {
      expect(await (await tux.get(path)).text()).toContain(`<url>${url}</url>`);
      expect(await (await client.get(path)).text()).toContain("<url>https://hooks.example.org:8443/</url>");
    }
  });

  it("shows its secret once, and stores it encrypted", async () => {
    const tux = await signedIn();

    const answer = await tux.post("/webhooks", { url: address, events: "build.failed, build.finished" });

    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { webhook } = await readXml(answer);
    expect(webhook.secret).toMatch(/^[\w-]{32}$/);
    expect(webhook).toMatchObject({
      url: address,
      state: "enabled",
      events: { event: ["build.finished", "build.failed"] },
    });
    const { secret: _, ...rest } = webhook;
    expect(await webhookOf(tux, webhook.id)).toEqual(rest);
    const { webhooks } = await readXml(await tux.get("/webhooks"));
    expect(webhooks.webhook).toEqual(rest);
    const row = await env.DB.prepare("SELECT * FROM webhooks WHERE id = ?").bind(webhook.id).first();
    expect(JSON.stringify(row)).not.toContain(webhook.secret);
  });

  it("is created once per Idempotency-Key, without repeating the secret", async () => {
    const tux = await signedIn();
    const headers = { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`, "idempotency-key": "one" };
    const post = () => visit(`/api/v2/user/webhooks?url=${address}`, { method: "POST", headers });
    const { webhook } = await readXml(await post());

    await expectError(await post(), 409, "unknown_error");

    const { results } = await env.DB.prepare("SELECT * FROM idempotent_answers").all();
    expect(results).not.toEqual([]);
    expect(JSON.stringify(results)).not.toContain(webhook.secret);
    expect((await readXml(await tux.get("/webhooks"))).webhooks.webhook.id).toBe(webhook.id);
  });

  it.each([
    ["no URL", {}, "missing_parameter"],
    ["an invalid URL", { url: "example" }, "invalid_value"],
    ["another protocol", { url: "ftp://example.org/" }, "invalid_value"],
    ["credentials", { url: "https://a:b@example.org/" }, "invalid_value"],
    ["loopback", { url: "http://127.0.0.1/" }, "invalid_value"],
    ["loopback in another notation", { url: "http://0x7f.1:80/" }, "invalid_value"],
    ["a private network", { url: "http://[fd00::1]/" }, "invalid_value"],
    ["metadata of a cloud", { url: "http://169.254.169.254/latest" }, "invalid_value"],
    ["a very long URL", { url: `https://example.org/${"a".repeat(1000)}` }, "invalid_value"],
    [
      "an unknown event",
      { url: "https://hooks.example.org/", events: "build.finished,build.exploded" },
      "invalid_value",
    ],
  ])("is refused with %s", async (_, params, code) => {
    const tux = await signedIn();

    await expectError(await tux.post("/webhooks", params), 400, code);

    expect((await readXml(await tux.get("/webhooks"))).webhooks).toEqual({ "@type": "array" });
  });

  it("is limited in number per account", async () => {
    const tux = await signedIn();
    for (let i = 0; i < 6; i++) await createWebhook(tux, address);

    expect(await expectError(await tux.post("/webhooks", { url: address }), 400, "unknown_error")).toMatch(/at most 6/);
  });

  it("is deleted with its deliveries", async () => {
    receiver(address, () => new Response(null, { status: 500 }));
    const tux = await signedIn();
    const { id } = await createWebhook(tux, address);
    await announceOne(tux);
    await runDeliveries(tux);
    expect(await alarmOf(tux)).not.toBeNull();

    await tux.delete(`/webhooks/${id}`);

    expect(await alarmOf(tux)).toBeNull();
    await expectError(await tux.get(`/webhooks/${id}`), 404, "unknown_error");
  });
});
