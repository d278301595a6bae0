/** Channels of an appliance. */
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { channelsToMove } from "#domain/channels/follow";
import { acceptReport } from "#domain/checks/report";
import { publish as publishVersion } from "#domain/gallery/publish";
import type { CheckResult } from "#lib/contract/index";
import { findOwner } from "#storage/accounts";
import { findAnyAppliance } from "#storage/appliances";
import { moveChannels } from "#storage/channels";
import { listCheckRuns, takeCheckRun } from "#storage/check-runs";
import { channels, eventOutbox } from "#storage/schema";
import { channelsAt, newRoom, type Room } from "../support/channels.ts";
import { checkReport } from "../support/check-report.ts";
import { signedIn, type Client } from "../support/client.ts";
import { putConfiguration } from "../support/configurations.ts";
import { galleryPath, publish } from "../support/gallery.ts";
import { db } from "../support/testdrives.ts";
import { readXml } from "../support/xml.ts";

let tux: Client;
let room: Room;
beforeAll(async () => {
  tux = await signedIn();
});
beforeEach(async () => {
  room = await newRoom(tux);
});

describe("a channel", () => {
  it("has the version that a person moves it to, and its images with their addresses", async () => {
    await room.released("0.0.1", "oem", "iso");
    expect((await room.set("stable", "version=0.0.1")).status).toBe(200);
    const [stable, ...others] = await room.channels();
    expect(others).toEqual([]);
    expect(stable).toMatchObject({ name: "stable", automatic: false, version: "0.0.1" });
    expect(stable?.images.map(({ image_type, url }) => [image_type, url])).toEqual([
      ["oem", `https://kiln.test${room.at("stable/oem")}`],
      ["iso", `https://kiln.test${room.at("stable/iso")}`],
    ]);

    await room.released("0.0.2");
    expect(await room.heads()).toEqual({ stable: "0.0.1" });
    await room.set("stable", "version=0.0.2");
    expect(await room.heads()).toEqual({ stable: "0.0.2" });
  });

  it("moves to each newer published version if it is automatic, and never to an older one", async () => {
    await room.set("testing", "automatic=true");
    await room.set("stable");
    await room.nextIs("0.0.9");
    await room.released("0.0.9");
    await room.released("0.0.10");
    expect(await room.heads()).toEqual({ testing: "0.0.10", stable: undefined });
    await room.nextIs("0.0.2");
    await room.released("0.0.2");
    expect(await room.heads()).toEqual({ testing: "0.0.10", stable: undefined });
  });

  it("takes the newest published version when it becomes automatic", async () => {
    await room.released("0.0.1");
    await room.released("0.0.2");
    await room.set("stable", "version=0.0.1");
    await room.set("stable", "automatic=true");
    expect(await room.channels()).toMatchObject([{ version: "0.0.2", automatic: true }]);
  });

  it("stays where a person has moved it back to", async () => {
    await room.set("stable", "automatic=true");
    await room.released("0.0.1");
    await room.released("0.0.2");
    await room.set("stable", "version=0.0.1");
    expect(await room.channels()).toMatchObject([{ version: "0.0.1", automatic: false }]);
    await room.released("0.0.3");
    expect(await room.heads()).toEqual({ stable: "0.0.1" });
  });

  it("does not go back if two versions are published at once", async () => {
    const decideFor = await automaticAfter("0.0.1", "0.0.2", "0.0.3");
    const [older, newer] = [await decideFor("0.0.2"), await decideFor("0.0.3")];
    expect([older.moves.length, newer.moves.length]).toEqual([1, 1]);
    await moveChannels(db, newer);
    await moveChannels(db, older);
    expect(await room.heads()).toEqual({ stable: "0.0.3" });
  });

  it("stays where a person moves it back to while it moves on by itself", async () => {
    const decideFor = await automaticAfter("0.0.1", "0.0.2");
    const late = await decideFor("0.0.2");
    await room.set("stable", "version=0.0.1");
    await moveChannels(db, late);
    expect(await room.channels()).toMatchObject([{ version: "0.0.1", automatic: false }]);
  });

  it("has the version before again when its head is withdrawn, but none that it was moved back from", async () => {
    await room.released("0.0.1");
    await room.released("0.0.2");
    await room.released("0.0.3");
    for (const version of ["0.0.1", "0.0.3", "0.0.2"]) await room.set("stable", `version=${version}`);
    await room.set("rolled-back", "version=0.0.3");
    await room.set("rolled-back", "version=0.0.1");
    await room.set("rolled-back", "version=0.0.2");
    await room.set("rolled-back", "version=0.0.1");

    await tux.delete(galleryPath(room.id, "/version/0.0.2"));
    expect(await room.heads()).toEqual({ "rolled-back": "0.0.1", stable: "0.0.3" });
    await tux.delete(galleryPath(room.id, "/version/0.0.1"));
    expect(await room.heads()).toEqual({ "rolled-back": "0.0.3", stable: "0.0.3" });
    await tux.delete(galleryPath(room.id, "/version/0.0.3"));
    expect(await room.heads()).toEqual({ "rolled-back": undefined, stable: undefined });
  });

  it.each(["Stable", "0.0.1", "-x", "a".repeat(33), "a%2Fb"])("cannot be called %s", async (name) => {
    const answer = await room.set(name);
    expect([answer.status, (await readXml(answer)).error.code]).toEqual([400, "invalid_value"]);
    expect(await room.channels()).toEqual([]);
  });

  it("has no version that is not published", async () => {
    await room.build("0.0.1");
    const answer = await room.set("stable", "version=0.0.1");
    expect([answer.status, (await readXml(answer)).error.code]).toEqual([400, "version_not_published"]);
    expect(await room.channels()).toEqual([]);
  });

  it("is one of at most eight", async () => {
    for (let nth = 1; nth <= 8; nth += 1) expect((await room.set(`c${nth}`)).status).toBe(200);
    expect((await room.set("c9")).status).toBe(400);
    expect((await room.set("c8", "automatic=true")).status).toBe(200);
    expect(await room.channels()).toHaveLength(8);
    expect((await tux.delete(`/appliances/${room.id}/channels/c1`)).status).toBe(200);
    expect((await tux.delete(`/appliances/${room.id}/channels/c1`)).status).toBe(404);
    expect((await room.set("c9")).status).toBe(200);
  });

  it("is gone with its appliance", async () => {
    await room.set("stable");
    await tux.delete(`/appliances/${room.id}`);
    const left = await env.DB.prepare("SELECT count(*) AS count FROM channels WHERE appliance_id = ?")
      .bind(room.id)
      .first();
    expect(left).toEqual({ count: 0 });
  });
});

/** Makes a channel automatic that has the first of these published versions. Returns what decides about a move. */
async function automaticAfter(first: string, ...later: string[]) {
  await room.released(first);
  await room.set("stable", `version=${first}`);
  for (const version of later) await room.released(version);
  await db.update(channels).set({ isAutomatic: true }).where(eq(channels.applianceId, room.id));
  const appliance = await findAnyAppliance(db, room.id);
  if (!appliance) throw new Error("no appliance");
  return async (version: string) => ({
    applianceId: room.id,
    version,
    moves: await channelsToMove(db, appliance, version),
  });
}

const configure = (publish_when: string) =>
  putConfiguration(tux, room.id, { checks: [{ kind: "login" }], settings: { publish_when } });

/** An agent runs the checks of a build. */
async function checked(buildId: number, result: CheckResult): Promise<void> {
  const report = await running(buildId, result);
  expect(await report()).toBe("stored");
  expect(await report()).toBe("stored");
}

/** An agent has begun to run the checks of a build. Returns what sends its report. */
async function running(buildId: number, result: CheckResult) {
  await tux.post(`/builds/${buildId}/checks`);
  const [run] = await listCheckRuns(db, buildId);
  if (!run) throw new Error("the checks were not requested");
  const testdriveUid = crypto.randomUUID();
  expect(await takeCheckRun(db, run, { testdriveUid, wakeAt: new Date(Date.now() + 600_000) })).toBe(true);
  return async () => await acceptReport({ env, db }, testdriveUid, checkReport([result]));
}

describe("checks", () => {
  const passed: CheckResult = { outcome: "passed", seen: "It came.", seconds: 12 };
  const failed: CheckResult = { outcome: "failed", seen: "", seconds: 12 };

  it("that have not passed keep an automatic channel where it is, until they pass", async () => {
    await configure("always");
    await room.set("stable", "automatic=true");
    const [first = 0] = await room.released("0.0.1");
    expect(await room.heads()).toEqual({ stable: undefined });
    await checked(first, failed);
    expect(await room.heads()).toEqual({ stable: undefined });
    await checked(first, passed);
    expect(await room.heads()).toEqual({ stable: "0.0.1" });

    const [second = 0] = await room.build("0.0.2");
    await checked(second, passed);
    expect(await room.heads()).toEqual({ stable: "0.0.1" });
    await publish(tux, room.id, "0.0.2");
    expect(await room.heads()).toEqual({ stable: "0.0.2" });
    await checked(first, passed);
    expect(await room.heads()).toEqual({ stable: "0.0.2" });
  });

  it("that pass while their version is being published move an automatic channel", async () => {
    await configure("always");
    await room.set("stable", "automatic=true");
    const [only = 0] = await room.build("0.0.1");
    const report = await running(only, passed);
    const account = await findOwner(db, room.id);
    if (!account) throw new Error("no owner");
    const request = { applianceId: room.id, version: "0.0.1", releaseNotes: "", baseUrl: "https://kiln.test" };
    // The report comes after the decision which channels move, and before the publication.
    const late = Object.create(db, {
      batch: { value: async (...given: Parameters<typeof db.batch>) => [await report(), await db.batch(...given)][1] },
    }) as typeof db;
    await publishVersion({ env, db: late }, account, request);
    expect(await room.heads()).toEqual({ stable: "0.0.1" });
  });

  it("that the appliance demands keep an unchecked version out of a channel", async () => {
    await configure("always");
    const [only = 0] = await room.released("0.0.1");
    await configure("checked");
    const answer = await room.set("stable", "version=0.0.1");
    expect([answer.status, (await readXml(answer)).error.message]).toEqual([
      400,
      "Version 0.0.1 (oem) cannot be at the head of a channel: its checks have not ended yet.",
    ]);
    await checked(only, passed);
    expect((await room.set("stable", "version=0.0.1")).status).toBe(200);
  });
});

describe("other accounts", () => {
  it("see the channels of a published appliance, and change none", async () => {
    const odo = await signedIn();
    await room.released("0.0.1");
    await room.set("stable", "version=0.0.1");
    await room.set("empty");
    expect((await channelsAt(odo, galleryPath(room.id, "/channels"))).map(({ name }) => name)).toEqual(["stable"]);
    await tux.post(`/appliances/${room.id}/sharing/${odo.username}`);
    expect((await odo.delete(`/appliances/${room.id}/channels/stable`)).status).toBe(403);
    await tux.delete(galleryPath(room.id, "/version/0.0.1"));
    expect((await odo.get(galleryPath(room.id, "/channels"))).status).toBe(403);
  });
});

const moves = async () => {
  const rows = await db.query.eventOutbox.findMany({ where: eq(eventOutbox.accountId, tux.accountId) });
  return rows
    .map(({ announcement: { event, subject } }) => ({ event, ...subject }))
    .filter(({ event }) => event === "channel.moved");
};

it("announces each move once: by hand, automatically, and back", async () => {
  await db.delete(eventOutbox);
  await room.released("0.0.1");
  await room.set("stable", "version=0.0.1");
  await room.set("stable", "version=0.0.1");
  await room.set("stable", "automatic=true");
  expect(await moves()).toEqual([
    {
      event: "channel.moved",
      channel: { appliance_id: room.id, name: expect.any(String), channel: "stable", version: "0.0.1" },
    },
  ]);

  await room.released("0.0.2");
  await room.set("stable", "version=0.0.1");
  expect(await moves()).toMatchObject([
    {},
    { channel: { channel: "stable", version: "0.0.2" } },
    { channel: { channel: "stable", version: "0.0.1" } },
  ]);
});
