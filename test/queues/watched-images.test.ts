/** The sweep compares images with their repositories, and notifies their owners. */
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, it } from "vitest";
import { listChannels } from "#storage/channels";
import { openDatabase } from "#storage/db";
import { listImageUpdates } from "#storage/image-updates";
import { channels, eventOutbox } from "#storage/schema";
import { operate, signedIn, type Client } from "../support/client.ts";
import { loadDebian } from "../support/debian.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { publish } from "../support/gallery.ts";
import { away, whileAway, withFate } from "../support/storage-faults.ts";
import { takeChores } from "../support/sweep.ts";

const db = openDatabase(env);
const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

const installed = [
  { name: "base-files", version: "12.4+deb12u12", release: "", arch: "amd64" },
  { name: "apache2", version: "2.4.65", release: "1~deb12u1", arch: "amd64" },
];

let tux: Client;
let mirror: Awaited<ReturnType<typeof loadDebian>>;
let applianceId: number;
beforeEach(async () => {
  tux = await signedIn();
  await createAppliance(tux); // loads the templates
  mirror = await loadDebian();
  applianceId = await createAppliance(tux, { clone_from: 900 });
});
afterEach(() => operate("PUT", "/read-only", { on: false }));

async function built(params: Record<string, string> = {}): Promise<number> {
  const id = await startBuild(tux, applianceId, params);
  await (await fakeAgent()).buildsSuccessfully(id, undefined, { installed });
  return id;
}

/** Checks only this appliance, as if this much time had passed. Others are due at other times. */
async function look(ms = 0): Promise<void> {
  const at = Date.now() + ms;
  await env.DB.batch([
    env.DB.prepare("UPDATE watches SET look_at = ? WHERE appliance_id <> ?").bind(at + 1000 * dayMs, applianceId),
    env.DB.prepare("UPDATE watches SET look_at = min(look_at, ?) WHERE appliance_id = ?").bind(at, applianceId),
  ]);
  await takeChores([{ body: { chore: "watchImages", at } }]);
}

const countsOf = async (...ids: number[]) =>
  (await listImageUpdates(db, ids)).map(({ buildId, newer, security }) => [buildId, newer, security]);

/** The events that wait to be announced. */
const told = async () => {
  const rows = await db.query.eventOutbox.findMany({ where: eq(eventOutbox.accountId, tux.accountId) });
  return rows.map(({ announcement: { event, subject } }) => ({ event, ...subject }));
};

it("compares the newest images and those of channels, and no others", async () => {
  const inChannel = await built();
  expect((await publish(tux, applianceId, "0.0.1")).status).toBe(200);
  await tux.put(`/appliances/${applianceId}/channels/stable?version=0.0.1`, "");
  const between = await built();
  const newest = await built();
  const alsoNewest = await built({ image_type: "iso", multi: "true" });
  await mirror.publish({ main: ["base-files 12.4+deb12u13"], security: ["apache2 2.4.66-1~deb12u1"] });

  await look();

  expect(await countsOf(inChannel, between, newest, alsoNewest)).toEqual([
    [inChannel, 2, 1],
    [newest, 2, 1],
    [alsoNewest, 2, 1],
  ]);
});

const lookIfDue = (ms: number) => takeChores([{ body: { chore: "watchImages", at: Date.now() + ms } }]);

it("looks once a day", async () => {
  const id = await built();
  await look();
  await mirror.publish({ security: ["apache2 2.4.66-1~deb12u1"] });

  await lookIfDue(dayMs - hourMs);
  expect(await countsOf(id)).toEqual([[id, 0, 0]]);
  await lookIfDue(dayMs + hourMs);
  expect(await countsOf(id)).toEqual([[id, 1, 1]]);
});

it("announces a new security update immediately, and other versions once a day", async () => {
  await built();
  await look();
  expect(await told()).toEqual([]);

  await mirror.publish({ main: ["base-files 12.4+deb12u13"] });
  await look();
  await look(dayMs * 2);
  expect(await told()).toMatchObject([{ event: "image.outdated", image: { newer: 1, security: 0, packages: [] } }]);

  const security = ["apache2 2.4.66-1~deb12u1"];
  await mirror.publish({ main: ["base-files 12.4+deb12u13"], security });
  await look();
  expect(await told()).toMatchObject([
    {},
    {
      image: {
        appliance_id: applianceId,
        version: "0.0.1",
        image_type: "oem",
        newer: 2,
        security: 1,
        packages: ["apache2 2.4.66-1~deb12u1"],
      },
    },
  ]);
  await mirror.publish({ main: ["base-files 12.4+deb12u14"], security });
  await look();
  await look(dayMs * 2);
  expect(await told()).toHaveLength(2);
});

it("announces on the next day what is newer since its last announcement", async () => {
  const more = [...installed, { name: "dracut", version: "059", release: "4", arch: "amd64" }];
  const id = await startBuild(tux, applianceId);
  await (await fakeAgent()).buildsSuccessfully(id, undefined, { installed: more });
  await mirror.publish({ main: ["base-files 12.4+deb12u13"] });
  await look();
  await mirror.publish({ main: ["base-files 12.4+deb12u13", "dracut 060-1"] });

  await look(hourMs);
  expect(await told()).toMatchObject([{ image: { newer: 1 } }]);
  await look(dayMs + hourMs);
  expect(await told()).toMatchObject([{ image: { newer: 1 } }, { image: { newer: 2 } }]);
});

it("announces once if two runs look at the same time, and if any storage call fails", async () => {
  await built();
  await mirror.publish({ security: ["apache2 2.4.66-1~deb12u1"] });
  const calls: string[] = [];
  await withFate(
    async (name, call) => {
      calls.push(name);
      return await call();
    },
    () => look(),
  );
  await mirror.publish({ security: ["apache2 2.4.67-1~deb12u1"] });
  for (const nth of calls.keys()) {
    let count = -1;
    await whileAway(
      () => (count += 1) === nth,
      () => look().catch(() => {}),
    );
  }

  await Promise.all([look(), look(), look()]);

  expect(await told()).toMatchObject([
    { image: { packages: ["apache2 2.4.66-1~deb12u1"] } },
    { image: { packages: ["apache2 2.4.67-1~deb12u1"] } },
  ]);
});

it("does nothing in read-only mode", async () => {
  const id = await built();
  await operate("PUT", "/read-only", { on: true });
  await look();
  expect(await countsOf(id)).toEqual([]);

  await operate("PUT", "/read-only", { on: false });
  await look();
  expect(await countsOf(id)).toEqual([[id, 0, 0]]);
});

it("looks at the others if one appliance fails", async () => {
  const id = await built();
  const another = await createAppliance(tux, { clone_from: 900 });
  const broken = await startBuild(tux, another);
  await (await fakeAgent()).buildsSuccessfully(broken, undefined, { installed });
  await env.DB.prepare("UPDATE watches SET look_at = 1 WHERE appliance_id = ?").bind(another).run();

  await withFate(
    async (name, call, args) => (isOf(args, another) ? away(name) : await call()),
    () => look(),
  );

  expect(await countsOf(id, broken)).toEqual([[id, 0, 0]]);
});

const isOf = (args: unknown[] | undefined, applianceId: number): boolean =>
  JSON.stringify(args ?? []).includes(String(applianceId));

it("moves an automatic channel that a crash has left behind", async () => {
  await built();
  await publish(tux, applianceId, "0.0.1");
  // As if the service had ended between the last report of the checks and the move.
  await db.insert(channels).values({ applianceId, name: "stable", isAutomatic: true, createdAt: new Date() });
  await look(dayMs);
  expect(await listChannels(db, applianceId)).toMatchObject([{ name: "stable", version: "0.0.1" }]);
});

it("forgets an image whose build is deleted", async () => {
  const id = await built();
  await look();
  expect(await countsOf(id)).toHaveLength(1);

  await tux.delete(`/builds/${id}`);

  expect(await countsOf(id)).toEqual([]);
});
