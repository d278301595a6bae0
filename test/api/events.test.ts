import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { objectOfBuild } from "../support/builds.ts";
import { signedIn } from "../support/client.ts";
import { announceOne, listen, objectOf } from "../support/events.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { publish } from "../support/gallery.ts";
import { runningDrive } from "../support/testdrives.ts";
import { moveClock } from "../support/webhooks.ts";

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
        `INSERT INTO events (event, document, at) ${many} SELECT 'build.queued', '{}', ? FROM n`,
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
});
