/** Uploads count towards the disk quota while they arrive. Contents count until a definition names them. */
import { env } from "cloudflare:workers";
import { gzipSync } from "node:zlib";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { forgetReservations } from "#domain/accounts/room";
import { usedBytes } from "#storage/accounts";
import { openDatabase } from "#storage/db";
import { loadTemplates } from "../support/catalogue.ts";
import { operate, signedIn, type Client } from "../support/client.ts";
import { done, send as sendDefinition, stored } from "../support/definitions.ts";
import { createAppliance } from "../support/factories.ts";
import { contentCount, fileForm, send, uploadFile } from "../support/files.ts";
import { rpmOf } from "../support/packages.ts";
import { base, form, pair, tarOf } from "../support/rpm-uploads.ts";
import { begun, openBody, tusClient } from "../support/uploads.ts";
import { expectError } from "../support/xml.ts";

const db = openDatabase(env);
const quota = 1_000_000;
const large = 900_000;
/** Two of them exceed the quota. */
const middle = 600_000;
const someOf = (length: number) => new Uint8Array(length).fill(7);
const octets = { "content-type": "application/octet-stream" };

beforeAll(loadTemplates);

let tux: Client;
let applianceId: number;
beforeEach(async () => {
  tux = await signedIn();
  applianceId = await createAppliance(tux);
  await operate("PUT", `/accounts/${tux.username}/quota`, { gb: quota / 2 ** 30 });
});

const used = () => usedBytes(db, tux.accountId);
const reserved = async () =>
  (await env.DB.prepare("SELECT bytes FROM reservations WHERE account_id = ?").bind(tux.accountId).all()).results;
/** The last bytes wait for later ones, so `middle` has not arrived completely. */
const arriving = () => expect.poll(used).toBeGreaterThan(quota - middle);
const expectRefused = async (answer: Response) =>
  expect(await expectError(answer, 400, "unknown_error")).toMatch(/quota/);

/** The calls that take a file as their body. */
const paths: Record<string, () => string> = {
  "a content": () => "/contents",
  "an overlay file": () => `/files?appliance_id=${applianceId}&filename=a`,
};
const pathOf = (what: string) => paths[what]?.() ?? "";

describe.each(Object.keys(paths))("%s", (what) => {
  it("counts while it arrives", async () => {
    const slow = openBody(someOf(middle));
    const first = send(tux, slow.body, { path: pathOf(what), headers: octets });
    await arriving();

    await expectRefused(await send(tux, someOf(middle), { path: pathOf(what), headers: octets }));
    await slow.end();

    expect((await first).ok).toBe(true);
    expect(await used()).toBe(middle);
  });

  it("counts with the length that it announces, so that one of many at the same time fits", async () => {
    const before = await contentCount();
    const headers = { ...octets, "content-length": String(large) };
    const one = () => send(tux, someOf(large), { path: pathOf(what), headers });
    const answers = await Promise.all(Array.from({ length: 8 }, one));

    const [taken, refused] = [answers.filter(({ ok }) => ok), answers.filter(({ ok }) => !ok)];
    expect(taken).toHaveLength(1);
    for (const answer of refused) await expectRefused(answer);
    expect(await used()).toBe(large);
    expect(await contentCount()).toBe(before + 1);
  });

  it("stops to count when the connection is cut, or the file is refused", async () => {
    const broken = openBody(someOf(middle));
    const first = send(tux, broken.body, { path: pathOf(what), headers: octets });
    await arriving();
    await broken.cut().catch(() => {});
    await first;
    expect(await used()).toBe(0);

    await expectRefused(await send(tux, someOf(quota + 1), { path: pathOf(what), headers: octets }));
    expect(await reserved()).toEqual([]);
    expect((await send(tux, someOf(quota), { path: pathOf(what), headers: octets })).ok).toBe(true);
  });
});

const nameIt = (at: string, content: object) =>
  sendDefinition(tux, `PUT /appliances/${at}/definition`, { files: [{ path: "/etc/a", ...content }] });

describe("a content that no definition names yet", () => {
  it("counts once when definitions name it", async () => {
    const content = await stored(tux, "x".repeat(large));
    expect(await used()).toBe(large);

    await done(await nameIt(String(applianceId), content));
    expect([await used(), await reserved()]).toEqual([large, []]);

    const other = await createAppliance(tux);
    await done(await nameIt(String(other), content));
    expect(await used()).toBe(large);
  });

  it("stays reserved if the definition is refused", async () => {
    const content = await stored(tux, "x".repeat(large));
    expect((await nameIt("999999", content)).ok).toBe(false);
    await uploadFile(tux, applianceId, "small");
    expect(await used()).toBe(large + 5);
  });

  it("counts for two hours, and the sweep deletes the reservation", async () => {
    await stored(tux, "x".repeat(large));
    const expire = env.DB.prepare("UPDATE reservations SET expires_at = ? WHERE account_id = ?");
    await forgetReservations({ db }, Date.now() + 119 * 60_000);
    expect(await reserved()).toHaveLength(1);

    await expire.bind(Date.now() - 1, tux.accountId).run();
    expect(await used()).toBe(0);
    await forgetReservations({ db }, Date.now());
    expect(await reserved()).toEqual([]);
  });
});

describe("packages", () => {
  const rpms = `/rpms?base_system=${base}`;

  it("count while they arrive", async () => {
    const rpm = rpmOf("one", { payload: "p".repeat(middle) });
    const slow = openBody(rpm.slice(0, middle));
    const first = send(tux, slow.body, { path: rpms, headers: octets });
    await arriving();
    await expectRefused(await send(tux, form(rpmOf("two", { payload: "p".repeat(middle) })), { path: rpms }));
    await slow.cut().catch(() => {});
    await first;
    expect(await used()).toBe(0);
  });

  it("leave no reservation, whether they are taken or refused", async () => {
    const tar = await pair();
    expect((await send(tux, form(tar), { path: rpms })).ok).toBe(true);
    expect(await reserved()).toEqual([]);
    const tooMuch = gzipSync(await tarOf({ "a.rpm": rpmOf("a", { payload: "p".repeat(quota) }) }));
    await expectRefused(await send(tux, form(Uint8Array.from(tooMuch)), { path: rpms }));
    expect(await reserved()).toEqual([]);
  });

  it("may fill the quota in several requests, with what they contain", async () => {
    const tar = await pair();
    const all = tar.byteLength + rpmOf("one").byteLength + rpmOf("two").byteLength;
    const give = (bytes: number) => operate("PUT", `/accounts/${tux.username}/quota`, { gb: bytes / 2 ** 30 });
    const tus = tusClient(tux);
    await give(all - 1);
    const refused = await begun(tus, { base_system: base, filename: "a.tar" }, tar.byteLength);
    await expectRefused(await tus.send(refused, 0, tar));
    expect([await used(), await reserved()]).toEqual([0, []]);

    await give(all);
    const taken = await begun(tus, { base_system: base, filename: "a.tar" }, tar.byteLength);
    expect((await tus.send(taken, 0, tar)).status).toBe(204);
    expect([await used(), await reserved()]).toEqual([all, []]);
  });
});

it("forms with a file count with the length that they announce", async () => {
  const path = `/files?appliance_id=${applianceId}`;
  const headers = { "content-length": String(large + 300) };
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => send(tux, fileForm(someOf(large)), { path, headers })),
  );
  expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  expect([await used(), await reserved()]).toEqual([large, []]);
});
