import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { renewApiKey } from "#domain/accounts/account";
import { followEvents } from "#domain/events/events";
import { heartbeatEveryMs, listensForMs } from "#domain/events/stream";
import { maxListeners } from "#objects/event-listeners";
import { findAccount } from "#storage/accounts";
import { objectOfBuild } from "../support/builds.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { announceOne, listen, listenerOf, objectOf } from "../support/events.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { publish } from "../support/gallery.ts";
import { patienceMs } from "../support/patience.ts";
import { db, runningDrive } from "../support/testdrives.ts";
import { moveClock } from "../support/webhooks.ts";
import { tokenOf } from "../support/tokens.ts";
import { expectError } from "../support/xml.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A stream in the context of the test, which can so move its clock. */
const listenHere = async ({ accountUid: uid }: Client) =>
  listenerOf(await followEvents(env, { uid }, { after: undefined, access: { by: "key" } }));

const instanceOf = (tux: Client) => runInDurableObject(objectOf(tux), (instance) => instance);

/** When the runtime last answered each socket's ping. */
const pongsTo = (tux: Client) =>
  runInDurableObject(objectOf(tux), (_, state) =>
    state.getWebSockets().map((socket) => state.getWebSocketAutoResponseTimestamp(socket)),
  );

describe("GET events", () => {
  it("reports a build from the queue to its end, once each", async () => {
    const tux = await signedIn();
    const listener = await listen(tux);

    const { buildId, applianceId } = await createBuild(tux);

    const events = [await listener.next(), await listener.next(), await listener.next()];
    expect(events.map(({ event }) => event)).toEqual(["build.queued", "build.started", "build.finished"]);
    expect(events.map(({ id }) => id)).toEqual(["1", "2", "3"]);
    expect(events[2]?.data).toEqual({
      id: 3,
      event: "build.finished",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      account: tux.username,
      build: {
        id: buildId,
        appliance_id: applianceId,
        name: "Kiosk",
        version: "0.0.1",
        image_type: "oem",
        state: "finished",
        message: expect.stringMatching(/^Finished/),
      },
    });
    await listener.close();
  });

  it("reports a cancelled build", async () => {
    const tux = await signedIn();
    const buildId = await startBuild(tux, await createAppliance(tux));
    const listener = await listen(tux, "1");

    await tux.delete(`/running_builds/${buildId}`);

    expect(await listener.next()).toMatchObject({ event: "build.cancelled", data: { build: { id: buildId } } });
    await listener.close();
  });

  it("reports a testdrive's start and end", async () => {
    const tux = await signedIn();
    const listener = await listen(tux);
    const drive = await runningDrive(tux);
    expect(await listener.next()).toMatchObject({ event: "testdrive.started", data: { testdrive: { id: drive.id } } });

    drive.control.socket.send(JSON.stringify({ type: "stopped", reason: "The machine was switched off." }));

    const { event, data } = await listener.next();
    expect(event).toBe("testdrive.ended");
    expect(data.testdrive).toMatchObject({ state: "ended", message: "The machine was switched off." });
    await listener.close();
  });

  it("reports a published version", async () => {
    const tux = await signedIn();
    const { applianceId } = await createBuild(tux);
    const listener = await listen(tux);

    expect((await publish(tux, applianceId, "0.0.1")).status).toBe(200);

    const { event, data } = await listener.next();
    expect(event).toBe("version.published");
    expect(data).toMatchObject({
      account: tux.username,
      version: { appliance_id: applianceId, name: "Kiosk", version: "0.0.1" },
    });
    await listener.close();
  });

  it("delivers by alarm what the account's object missed", async () => {
    const tux = await signedIn();
    const buildId = await startBuild(tux, await createAppliance(tux));
    await env.DB.prepare("ALTER TABLE webhooks RENAME TO webhooks_away").run();
    const refused = vi.spyOn(console, "error").mockImplementation(() => {});
    await tux.delete(`/running_builds/${buildId}`);
    await env.DB.prepare("ALTER TABLE webhooks_away RENAME TO webhooks").run();
    expect(refused).toHaveBeenCalled();
    refused.mockRestore();
    const listener = await listen(tux, "1");

    await runDurableObjectAlarm(await objectOfBuild(buildId));

    expect(await listener.next()).toMatchObject({ id: "2", event: "build.cancelled" });
    await listener.close();
  });

  it("resumes after the last received id, from the stored events", async () => {
    const tux = await signedIn();
    for (const event of ["build.queued", "build.started", "build.failed"] as const) await announceOne(tux, event);

    const listener = await listen(tux, "1");
    await announceOne(tux, "testdrive.ended");

    const ids = [await listener.next(), await listener.next(), await listener.next()].map(({ id }) => id);
    expect(ids).toEqual(["2", "3", "4"]);
    await listener.close();
  });

  it("stores an event once when it is announced twice", async () => {
    const tux = await signedIn();
    for (const key of ["a", "a", "b"]) await announceOne(tux, "build.queued", { key });

    const kept = await runInDurableObject(objectOf(tux), (_, { storage }) =>
      [...storage.sql.exec("SELECT id FROM events")].map(({ id }) => id),
    );

    expect(kept).toEqual([1, 2]);
  });

  it("keeps the last thousand events", async () => {
    const tux = await signedIn();
    await runInDurableObject(objectOf(tux), (_, { storage }) => {
      const many = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1005)`;
      storage.sql.exec(
        `INSERT INTO events (event, told, at) ${many} SELECT 'build.queued', '{}', ? FROM n`,
        Date.now(),
      );
    });
    await announceOne(tux);

    const listener = await listen(tux, "0");

    expect((await listener.next()).id).toBe("7");
    await listener.close();
  });

  it("keeps an event for seven days", async () => {
    const dayMs = 24 * 60 * 60_000;
    const firstKept = async () => {
      await announceOne(tux);
      const listener = await listen(tux, "0");
      const { id } = await listener.next();
      await listener.close();
      return id;
    };
    const tux = await signedIn();
    await announceOne(tux);

    moveClock(6.9 * dayMs);
    expect(await firstKept()).toBe("1");
    moveClock(0.2 * dayMs);
    expect(await firstKept()).toBe("2");
  });

  it("hides the events of other accounts", async () => {
    const [tux, gnu] = [await signedIn(), await signedIn()];
    const listener = await listen(gnu, "0");
    await announceOne(tux);
    await announceOne(gnu);

    expect((await listener.next()).data.account).toBe(gnu.username);
    await listener.close();
  });

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

    // Two heartbeats in one moment: there was no time for an answer.
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
