/** The URLs of images that a definition and a day determine. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { signedIn, type Client } from "../support/client.ts";
import { refused } from "../support/definitions.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent } from "../support/fake-agent.ts";
import { publish } from "../support/gallery.ts";
import { stock, tinyLinux, tinyRepository } from "../support/repositories.ts";
import { building, importedAt, open, openPatiently, posted, reimported } from "../support/schematics.ts";
import { tokenOf } from "../support/tokens.ts";

let tux: Client;
let main = 0;
const oldDay = "2026-01-10";
beforeAll(async () => {
  await createAppliance(await signedIn());
  main = await tinyRepository("main");
});
beforeEach(async () => {
  tux = await signedIn();
  await env.DB.prepare("DELETE FROM repository_states").run();
  await stock(main, tinyLinux.main);
  for (const id of [main, await tinyRepository("updates")]) await importedAt(id, `${oldDay}T08:30:15Z`);
});

async function built(id: number, text: string): Promise<void> {
  await (await fakeAgent()).buildsSuccessfully(id, bytesOf(text), { fileName: "Kiosk.oem" });
}

describe("GET /image/SCHEMATIC/current/FORMAT", () => {
  it("builds once for a hundred requests at the same time, and then leads to the image", async () => {
    const { id, appliance_id } = await posted(tux);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, nth) => openPatiently(tux, `${id}/current/oem`, { from: `192.0.2.${nth}` })),
    );
    const all = await Promise.all(answers.map(building));
    const { n } = (await env.DB.prepare("SELECT count(*) AS n FROM builds WHERE appliance_id = ?")
      .bind(appliance_id)
      .first<{ n: number }>()) ?? { n: 0 };

    expect([new Set(all.map((one) => one.id)).size, n]).toEqual([1, 1]);
    expect(all[0]).toMatchObject({ version: "2601.1008.3015", queue_position: expect.any(Number) });
    await built(all[0]?.id ?? 0, "the image");

    const there = await open(tux, `${id}/current/oem`);
    expect([there.status, there.headers.get("location")]).toEqual([302, expect.stringContaining("/Kiosk.oem")]);
    const etag = there.headers.get("etag") ?? "";
    expect((await open(tux, `${id}/current/oem`, { "if-none-match": etag })).status).toBe(304);
    const checksum = await open(tux, `${id}/current/oem.sha256`);
    expect(checksum.headers.get("location")).toMatch(/Kiosk\.oem\.sha256$/);
  });

  it("builds again when the repositories have changed, and only then", async () => {
    const { id } = await posted(tux);
    const first = await building(await open(tux, `${id}/current/oem`));
    await built(first.id, "old");
    expect((await open(tux, `${id}/current/oem`)).status).toBe(302);
    await reimported(main, tinyLinux.main);
    expect((await building(await open(tux, `${id}/current/oem`))).id).not.toBe(first.id);
  });

  it("starts no build for a page of another site, and leads it to an image that is there", async () => {
    const { id } = await posted(tux);
    const foreign = { "sec-fetch-site": "cross-site" };
    expect(await refused(await open(tux, `${id}/current/oem`, foreign))).toMatch(/^403 .*another site starts no build/);
    const { id: build } = await building(await open(tux, `${id}/current/oem`));
    await built(build, "the image");
    expect((await open(tux, `${id}/current/oem`, foreign)).status).toBe(302);
  });

  it("needs an account, and shows each account only its own", async () => {
    const { id } = await posted(tux);
    const { client: reader } = await tokenOf(tux);
    expect((await open(undefined, `${id}/current/oem`)).status).toBe(401);
    expect(await refused(await open(await signedIn(), `${id}/current/oem`))).toMatch(/^404 .*no schematic/);
    expect(await refused(await open(reader, `${id}/current/oem`))).toMatch(/^403 .*scope build/);
    const { id: build } = await building(await open(tux, `${id}/current/oem`));
    expect((await building(await open(reader, `${id}/current/oem`))).id).toBe(build);
  });

  it("refuses what cannot be built, in one sentence", async () => {
    const { id } = await posted(tux, { packages: [{ name: "no-such-package" }] });
    expect(await refused(await open(tux, `${id}/current/oem`))).toMatch(/^400 configuration_error .*no-such-package/);
    expect(await refused(await open(tux, `${id}/current/floppy`))).toMatch(
      /^400 invalid_image_type There is no format/,
    );
  });

  it("does not repeat a build that failed, until that build is deleted", async () => {
    const { id } = await posted(tux);
    const first = await building(await open(tux, `${id}/current/oem`));
    const attempt = await (await fakeAgent()).claimsBuild(first.id);
    await attempt.call("fail", { kind: "failed", reason: "The script failed." });
    expect(await refused(await open(tux, `${id}/current/oem`))).toMatch(/^400 configuration_error Build \d+ .* failed/);
    await tux.delete(`/builds/${first.id}`);
    expect((await building(await open(tux, `${id}/current/oem`))).id).not.toBe(first.id);
  });
});

describe("GET /image/SCHEMATIC/DAY/FORMAT", () => {
  it("builds with the repositories as they were at the beginning of the day", async () => {
    const old = tinyLinux.main.filter((line) => !line.startsWith("webdemo-1.0"));
    const { id } = await posted(tux, { packages: [{ name: "webdemo" }] });
    await reimported(main, old);

    expect(await refused(await open(tux, `${id}/current/oem`))).toMatch(/^400 configuration_error/);
    const today = new Date().toISOString().slice(0, 10);
    const asOf = await building(await open(tux, `${id}/${today}/oem`));
    await built(asOf.id, "as of");
    expect(asOf.version).toBe("2601.1008.3015");
    expect((await open(tux, `${id}/${today}/oem`)).status).toBe(302);
    expect((await open(tux, `${id}/2026-01-11/oem`)).headers.get("location")).toBe(
      (await open(tux, `${id}/${today}/oem`)).headers.get("location"),
    );
  });

  it("names the days that are possible", async () => {
    const { id, as_of } = await posted(tux);
    const today = new Date().toISOString().slice(0, 10);
    expect(as_of).toEqual([{ from: expect.any(String), to: today }]);
    expect(await refused(await open(tux, `${id}/${oldDay}/oem`))).toMatch(
      /^404 unknown_error Kiln does not have .* as of/,
    );
    expect(await refused(await open(tux, `${id}/2026-02-30/oem`))).toMatch(/^400 invalid_value .* is not a date/);
    expect(await refused(await open(tux, `${id}/2999-01-01/oem`))).toMatch(/^400 invalid_value .* has not begun/);
  });

  it("is the only one that builds its version", async () => {
    const { id, appliance_id } = await posted(tux);
    const { version } = await building(await open(tux, `${id}/current/oem`));
    const again = await tux.post("/running_builds", { appliance_id, version, force: "true" });
    expect(await again.text()).toContain("is reserved for an address of the schematic");
  });
});

describe("GET /image/SCHEMATIC/CHANNEL/FORMAT", () => {
  it("leads without an account to the channel of a published appliance of the schematic", async () => {
    const { id, appliance_id } = await posted(tux);
    await built(await startBuild(tux, appliance_id), "published");
    expect((await open(undefined, `${id}/stable/oem`)).status).toBe(404);
    expect((await publish(tux, appliance_id)).status).toBe(200);
    await tux.put(`/appliances/${appliance_id}/channels/stable?version=0.0.1`, "");

    const there = await open(undefined, `${id}/stable/oem`);
    expect([there.status, there.headers.get("location")]).toEqual([
      302,
      `/image/${tux.username}/${appliance_id}/0.0.1/oem/Kiosk.oem`,
    ]);
    await tux.post(`/appliances/${appliance_id}/cmd/add_package`, { name: "hello" });
    expect((await open(undefined, `${id}/stable/oem`)).status).toBe(404);
  });
});
