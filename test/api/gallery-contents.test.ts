import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { galleryUses } from "#storage/schema";
import { publishedSoftware } from "#documents/gallery-software";
import { writeJson } from "#lib/wire/json";
import { viewOf } from "#lib/wire/view";
import { writeXml } from "#lib/wire/xml";
import { pngOf } from "../picture/png-maker.ts";
import { sent } from "./every-call/send.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { addUserRepository, galleryPath, publish, publishedAppliance } from "../support/gallery.ts";
import { claimTestdrive, until } from "../support/testdrives.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
let rhea: Client;
beforeAll(async () => {
  [tux, rhea] = await Promise.all([signedIn(), signedIn()]);
});

it("shows the architecture of a published appliance in JSON only", async () => {
  const { applianceId: id } = await publishedAppliance(tux);
  const inJson = await rhea.get(galleryPath(id), { headers: { accept: "application/json" } });
  expect(await inJson.json()).toMatchObject({ gallery: { appliance: { id, arch: "x86_64" } } });
  const { gallery } = await readXml(await rhea.get(galleryPath(id)));
  expect(gallery.appliance).not.toHaveProperty("arch");
});

describe("software", () => {
  let id: number;
  beforeAll(async () => {
    id = await createAppliance(tux, { name: "Counter" });
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "hello" });
    await addUserRepository(tux, id, "counter");
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "counter" });
    const buildId = await startBuild(tux, id);
    const agent = await fakeAgent();
    const attempt = await agent.claimsBuild(buildId);
    await attempt.uploads(new Uint8Array([1, 2, 3]));
    const { packages } = attempt.claim.input;
    const installed = packages.map(({ name, version, release, arch }) => ({ name, version, release, arch }));
    await attempt.finishes({
      installed: [...installed, { name: "gpg-pubkey", version: "1", release: "1", arch: "(none)" }],
    });
    await publish(tux, id);
  });

  it("lists packages and patterns with repositories, and their trust", async () => {
    const { gallery } = await readXml(await rhea.get(galleryPath(id, "/software?version=0.0.1")));

    const { repositories, selected_software: selected, installed_software: installed } = gallery.appliance;
    expect(Object.keys(gallery.appliance)).toEqual(["id", "repositories", "selected_software", "installed_software"]);
    expect(repositories["@count"]).toBe("3");
    expect(repositories.repository).toEqual([
      { "#text": "Tiny Linux 1.0 main", "@trusted": "true" },
      { "#text": "Tiny Linux 1.0 updates", "@trusted": "true" },
      { "#text": expect.any(String), "@trusted": "false" },
    ]);
    const own = repositories.repository[2]["#text"];
    expect(selected.package.map((one: { "#text": string }) => one["#text"])).toEqual(["hello", "counter"]);
    expect(selected.package[1]).toEqual({ "#text": "counter", "@repository": own, "@version": "1.0-1" });
    expect(selected.pattern).toMatchObject({ "#text": "base", "@repository": "Tiny Linux 1.0 main" });
    expect(Number(installed["@count"])).toBe(installed.package.length + 1);
    expect(installed.package).toContainEqual({ "#text": "counter", "@repository": own, "@version": "1.0-1" });
    expect(installed.package).toContainEqual({ "#text": "gpg-pubkey", "@repository": "", "@version": "1-1" });
    expect(await (await rhea.get(galleryPath(id, "/software"))).text()).toContain(">counter</package>");
  });

  it("has one shape in JSON, even if nothing was selected", () => {
    const empty = { applianceId: 1, software: { repositories: [], selected: [], installed: [] } };
    const nothing = viewOf(publishedSoftware, empty, { baseUrl: "", version: { name: "v2" } });

    const { gallery } = JSON.parse(writeJson("gallery", nothing));

    expect(gallery.appliance.selected_software).toEqual({ count: 0, package: [], pattern: [] });
    expect(writeXml("gallery", nothing)).toContain('<selected_software count="0"></selected_software>');
  });

  it("shows a user repository as untrusted on the page", async () => {
    const { gallery } = await readXml(await rhea.get(galleryPath(id)));

    expect(gallery.appliance.security).toMatchObject({
      sources: { only_trusted: "false", untrusted_source: expect.any(String) },
      custom_packages: { uses_custom_packages: "true" },
    });
  });
});

describe("published pictures", () => {
  it("are those of the publication, with a thumbnail as background", async () => {
    const { applianceId: id } = await publishedAppliance(tux);
    const bytes = async (path: string) => {
      const answer = await rhea.get(galleryPath(id, path));
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
      return Buffer.from(await answer.arrayBuffer());
    };
    const [logo, background] = [await bytes("/logo"), await bytes("/background")];
    expect([background.readUInt32BE(16), background.readUInt32BE(20)]).toEqual([100, 100]);
    expect((await bytes("/background.")).equals(background)).toBe(true);

    const file = pngOf(20, 10);
    for (const kind of ["logo", "background"]) {
      const changed = await sent({
        method: "PUT",
        path: `/appliances/${id}/configuration/${kind}`,
        body: { file },
        credentials: tux,
      });
      expect(changed.status).toBe(200);
    }

    expect([(await bytes("/logo")).equals(logo), (await bytes("/background")).equals(background)]).toEqual([
      true,
      true,
    ]);
  });
});

describe("a testdrive", () => {
  it("of a published version takes a slot of any starting account", async () => {
    const { applianceId: id } = await publishedAppliance(tux);
    const posted = rhea.post(galleryPath(id, "/testdrive"), { version: "0.0.1" });
    await until(
      async () =>
        (await (await claimTestdrive({ host: "192.0.2.7", port: 5901 })).json<{ testdrive: unknown }>()).testdrive ??
        undefined,
    );

    const { gallery } = await readXml(await posted);

    expect(Object.keys(gallery.testdrive)).toEqual(["url", "server"]);
    const [, started] = /^https:\/\/kiln\.test\/testdrive\/(\d+)\/[\w-]{32}$/.exec(gallery.testdrive.url) ?? [];
    expect(gallery.testdrive.server.vnc).toMatchObject({ host: "192.0.2.7", port: "5901" });
    expect((await readXml(await rhea.get("/testdrives"))).testdrives.testdrive).toMatchObject({ id: started });
    expect((await readXml(await tux.get("/testdrives"))).testdrives.testdrive).toBeUndefined();
    const uses = await openDatabase(env).select().from(galleryUses).where(eq(galleryUses.applianceId, id));
    expect(uses).toEqual([{ applianceId: id, accountId: rhea.accountId, kind: "testdrive" }]);
  });

  it("of an unpublished version is refused, and takes no slot", async () => {
    const { applianceId: id } = await publishedAppliance(tux);
    const odo = await signedIn();
    await expectError(
      await odo.post(galleryPath(id, "/testdrive"), { version: "0.0.2" }),
      400,
      "version_not_published",
    );
    expect((await readXml(await odo.get("/testdrives"))).testdrives.testdrive).toBeUndefined();
  });
});
