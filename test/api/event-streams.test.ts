import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { renewApiKey } from "#domain/accounts/account";
import { followEvents } from "#domain/events/events";
import { heartbeatEveryMs, listensForMs } from "#domain/events/stream";
import { maxListeners } from "#objects/event-listeners";
import { findAccount } from "#storage/accounts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { announceOne, listen, listenerOf, objectOf } from "../support/events.ts";
import { patienceMs } from "../support/patience.ts";
import { db } from "../support/testdrives.ts";
import { moveClock } from "../support/webhooks.ts";
import { tokenOf } from "../support/tokens.ts";
import { expectError } from "../support/xml.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A stream in the test's context, so that the test can move its clock. */
const listenHere = async ({ accountUid: uid }: Client) =>
  listenerOf(await followEvents(env, { uid }, { after: undefined, access: { by: "key" } }));

const instanceOf = (tux: Client) => runInDurableObject(objectOf(tux), (instance) => instance);

/** When the runtime last answered each socket's ping. */
const pongsTo = (tux: Client) =>
  runInDurableObject(objectOf(tux), (_, state) =>
    state.getWebSockets().map((socket) => state.getWebSocketAutoResponseTimestamp(socket)),
  );

describe("the stream of GET events", () => {
  it("sends a heartbeat while idle, which wakes no object, and closes after an hour", async () => {
    const tux = await signedIn();
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    const listener = await listenHere(tux);
    expect(await listener.block()).toBe("retry: 3000");

    vi.advanceTimersByTime(heartbeatEveryMs);
    expect(await listener.block()).toBe(": still here");
    await vi.waitFor(async () => expect(await pongsTo(tux)).toEqual([expect.any(Date)]), patienceMs);
    vi.setSystemTime(Date.now() + listensForMs);
    vi.advanceTimersByTime(heartbeatEveryMs);

    expect(await listener.block()).toBeUndefined();
  });

  it("ends when its object does not answer", async () => {
    const tux = await signedIn();
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    const listener = await listenHere(tux);
    expect(await listener.block()).toBe("retry: 3000");

    // Two heartbeats at the same moment leave no time for an answer.
    vi.advanceTimersByTime(2 * heartbeatEveryMs);

    expect(await listener.block()).toBe(": still here");
    expect(await listener.block()).toBeUndefined();
  });

  it("lets its object hibernate, and gets what comes after that", async () => {
    const tux = await signedIn();
    const listener = await listen(tux);
    expect(await listener.block()).toBe("retry: 3000");
    const before = await instanceOf(tux);

    await evictDurableObject(objectOf(tux));
    await announceOne(tux);

    expect(await instanceOf(tux)).not.toBe(before);
    expect(await listener.next()).toMatchObject({ id: "1", event: "build.finished" });
    await listener.close();
    await vi.waitFor(async () => expect(await pongsTo(tux)).toEqual([]), patienceMs);
  });

  it("ends when its object restarts, and resumes without a loss", async () => {
    const tux = await signedIn();
    const listener = await listen(tux);
    await announceOne(tux);
    const { id } = await listener.next();

    await evictDurableObject(objectOf(tux), { webSockets: "close" });
    expect(await listener.block()).toBeUndefined();
    await announceOne(tux, "build.failed");

    const again = await listen(tux, id);
    expect(await again.next()).toMatchObject({ id: "2", event: "build.failed" });
    await again.close();
  });

  it("ends with the token that opened it, and sends nothing after that", async () => {
    const tux = await signedIn();
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    const endsAt = Math.ceil(Date.now() / 1000) * 1000 + 60_000;
    const { client } = await tokenOf(tux, { expires_at: new Date(endsAt).toISOString() });
    const [ofToken, ofKey] = [await listen(client), await listen(tux)];
    await announceOne(tux);
    expect(await ofToken.next()).toMatchObject({ event: "build.finished" });
    expect(await ofKey.next()).toMatchObject({ event: "build.finished" });

    vi.setSystemTime(endsAt);
    await announceOne(tux, "build.failed");

    expect(await ofToken.block()).toBeUndefined();
    expect(await ofKey.next()).toMatchObject({ event: "build.failed" });
    await ofKey.close();
  });

  it("is passed on from an object that still runs the release before, which answers with the stream itself", async () => {
    const tux = await signedIn();
    const { client } = await tokenOf(tux, { expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    const asked: string[] = [];
    await runInDurableObject(objectOf(tux), (instance) => {
      instance.fetch = ({ url }) => {
        asked.push(url);
        return new Response("id: 7\nevent: build.finished\ndata: {}\n\n");
      };
    });

    const listener = await listen(client, "6");

    expect(await listener.next()).toMatchObject({ id: "7", event: "build.finished" });
    expect(asked).toEqual([expect.stringMatching(/\?after=6&until=\d+$/)]);
  });

  it("limits the number of streams, and frees the slot of closed ones", async () => {
    const tux = await signedIn();
    const open = [];
    for (let i = 0; i < maxListeners; i++) open.push(await listen(tux));

    const message = await expectError(await tux.get("/events"), 400, "unknown_error");

    expect(message).toMatch(/streams/);
    await open[0]?.close();
    await vi.waitFor(async () => open.push(await listen(tux)), patienceMs);
    expect(await objectOf(tux).hangUp()).toBe(maxListeners);
  });

  it("frees the slot of a stream whose Worker is silent", async () => {
    const tux = await signedIn();
    for (let i = 0; i < maxListeners; i++) await listen(tux);
    moveClock(2 * heartbeatEveryMs + 1);

    const listener = await listen(tux);

    expect(await listener.block()).toBe("retry: 3000");
    await listener.close();
  });

  it("answers HEAD without a stream", async () => {
    const tux = await signedIn();

    const answer = await visit("/api/v2/user/events", {
      method: "HEAD",
      headers: { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` },
    });

    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(await objectOf(tux).hangUp()).toBe(0);
  });

  it("ends when its key is renewed", async () => {
    const tux = await signedIn();
    const listener = await listen(tux);
    expect(await listener.block()).toBe("retry: 3000");
    const account = await findAccount(db, tux.username);
    if (!account) expect.fail("there is no account");

    await renewApiKey({ env, db }, account);

    expect(await listener.block()).toBeUndefined();
  });

  it("refuses an invalid Last-Event-ID", async () => {
    const tux = await signedIn();
    await expectError(await tux.get("/events", { headers: { "last-event-id": "yesterday" } }), 400, "invalid_value");
  });
});
