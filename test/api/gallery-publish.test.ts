import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { signedIn, type Client } from "../support/client.ts";
import { accept, loadWithAgreement } from "../support/agreements.ts";
import { createBuild, startBuild } from "../support/factories.ts";
import { bytesOf } from "../support/fake-agent.ts";
import { configure, galleryPath, publish, publishedAppliance, sendText } from "../support/gallery.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
let rhea: Client;
beforeAll(async () => {
  [tux, rhea] = await Promise.all([signedIn(), signedIn()]);
});

const detail = async (applianceId: number, rest = "") =>
  (await readXml(await rhea.get(galleryPath(applianceId, rest)))).gallery.appliance;

const versions = async (applianceId: number) => (await detail(applianceId, "/versions")).versions;

describe("publishing", () => {
  it("returns the version as everyone then sees it", async () => {
    const { applianceId } = await createBuild(tux);
    const texts = "<description>One screen</description><website>https://desk.example.org</website>";
    await configure(tux, applianceId, `<name>Desk</name>${texts}`);

    const { gallery } = await readXml(await publish(tux, applianceId, "0.0.1", "First *public* release"));

    expect(gallery.appliance).toMatchObject({
      id: String(applianceId),
      name: "Desk",
      version: "0.0.1",
      release_notes: "First *public* release",
      homepage: "https://desk.example.org",
      description: "One screen",
      publisher: tux.username,
      username: tux.username,
      based_on: "tiny-1.0",
      formats: { "@count": "1", format: { "#text": "oem", "@md5": expect.stringMatching(/^[0-9a-f]{32}$/) } },
      configuration: { accounts: { "@count": "1", account: { user: "root", password: "linux" } } },
      timezone: { location: "Europe/Berlin" },
      network: { type: "dhcp" },
      firewall: { enabled: "true", open_port: "ssh" },
      security: {
        sources: { only_trusted: "true" },
        custom_packages: { uses_custom_packages: "false" },
        overlay_files: "false",
        custom_scripts: "false",
      },
    });
    expect(await detail(applianceId)).toEqual(gallery.appliance);
    expect(await detail(applianceId, "/version/0.0.1")).toEqual(gallery.appliance);
  });

  it("names the users of the images, not those that the appliance has got since", async () => {
    const { applianceId } = await createBuild(tux);
    const users =
      "<user><name>root</name><password>new</password></user><user><name>late</name><password>secret</password></user>";
    await configure(tux, applianceId, `<users>${users}</users>`);

    const { gallery } = await readXml(await publish(tux, applianceId));

    const { accounts } = gallery.appliance.configuration;
    expect(accounts).toEqual({ "@count": "1", account: { user: "root", password: "linux" } });
  });

  it("includes all images of a version", async () => {
    const { applianceId, agent } = await createBuild(tux);
    await agent.buildsSuccessfully(await startBuild(tux, applianceId, { multi: "true", image_type: "iso" }));

    const { gallery } = await readXml(await publish(tux, applianceId));

    const types = gallery.appliance.formats.format.map((format: { "#text": string }) => format["#text"]);
    expect([gallery.appliance.formats["@count"], types]).toEqual(["2", ["oem", "iso"]]);
  });

  it("is refused a second time, even at the same moment", async () => {
    const { applianceId } = await createBuild(tux);

    const answers = await Promise.all([
      publish(tux, applianceId),
      publish(tux, applianceId),
      publish(tux, applianceId),
    ]);

    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    for (const answer of answers.filter(({ ok }) => !ok)) await expectError(answer, 400, "version_published");
    await expectError(await publish(tux, applianceId), 400, "version_published");
    expect(await versions(applianceId)).toEqual({ "@count": "1", version: "0.0.1" });
  });

  it.each([
    ["an unbuilt version", "0.0.2"],
    ["an unknown version", "9.9.9"],
    ["no version at all", "latest"],
    ["a version that is a path", "..%2F..%2F1"],
  ])("is refused for %s", async (_what, version) => {
    const { applianceId } = await createBuild(tux);
    await expectError(await publish(tux, applianceId, version), 400, "invalid_version");
    await expectError(await rhea.get(galleryPath(applianceId)), 403, "access_denied");
  });

  it("is refused while the version is being built", async () => {
    const { applianceId } = await createBuild(tux);
    const again = await startBuild(tux, applianceId, { version: "0.0.1", force: "true" });

    expect(await expectError(await publish(tux, applianceId), 400, "unknown_error")).toContain("being built");
    await tux.delete(`/running_builds/${again}`);
    expect((await publish(tux, applianceId)).status).toBe(200);
  });

  it.each(["POST", "PUT", "DELETE", "GET"])("requires a version: %s", async (method) => {
    const { applianceId } = await (shared ??= publishedAppliance(tux));
    for (const path of ["/version", "/version/"]) {
      const call =
        method === "GET"
          ? rhea.get(galleryPath(applianceId, path))
          : method === "DELETE"
            ? tux.delete(galleryPath(applianceId, path))
            : sendText(tux, method as "POST", galleryPath(applianceId, path), { body: "notes" });
      await expectError(await call, 400, "missing_version");
    }
  });

  it("is restricted to the owner", async () => {
    const { applianceId } = await createBuild(tux);
    await tux.post(`/appliances/${applianceId}/sharing/${rhea.username}`);

    await expectError(await publish(rhea, applianceId), 403, "access_denied");
    await expectError(await rhea.get(galleryPath(applianceId)), 403, "access_denied");
  });

  it("requires the base system's agreement", async () => {
    const odo = await signedIn();
    const { applianceId } = await createBuild(odo);
    await loadWithAgreement({ title: "Terms", text: "Share and be fair." });
    try {
      await expectError(await publish(odo, applianceId), 400, "sle_agreement_missing");
      await accept(odo);
      expect((await publish(odo, applianceId)).status).toBe(200);
    } finally {
      await loadWithAgreement();
    }
  });
});

let shared: Promise<{ applianceId: number; buildId: number }> | undefined;

const versionPath = (applianceId: number, version: string) => galleryPath(applianceId, `/version/${version}`);

describe("release notes", () => {
  let applianceId: number;
  beforeAll(async () => {
    ({ applianceId } = await publishedAppliance(tux, { notes: "First" }));
  });

  const change = (body: BodyInit, type?: string) =>
    sendText(tux, "PUT", galleryPath(applianceId, "/version/0.0.1"), { body, ...(type && { type }) });
  const notes = async () => (await detail(applianceId)).release_notes;

  it.each([
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "application/xml",
    "",
  ])("are stored unchanged when they are sent as %s", async (type) => {
    const text = `a=b&c+d%20e *f*\n<b>Grüße</b> ${type}`;

    const { gallery } = await readXml(await change(text, type));

    expect(gallery.appliance.release_notes).toBe(text.trim());
    expect(await notes()).toBe(text.trim());
  });

  it("may be empty, and lose characters that XML cannot contain", async () => {
    await change("");
    expect(await notes()).toBe("");
    await change("a\u0000b\u001bc");
    expect(await notes()).toBe("abc");
  });

  it.each([
    ["too long", bytesOf("x".repeat(64 * 1024 + 1))],
    ["invalid UTF-8", new Uint8Array([0x61, 0xff])],
  ])("are unchanged and refused when they are %s", async (_what, body) => {
    await change("kept");
    await expectError(await change(body), 400, "invalid_value");
    expect(await notes()).toBe("kept");
    expect((await change("y".repeat(64 * 1024))).status).toBe(200);
  });

  it("need a published version of the caller's", async () => {
    await expectError(await sendText(tux, "PUT", versionPath(applianceId, "0.0.2")), 404, "version_not_published");
    await expectError(await sendText(tux, "PUT", versionPath(applianceId, "two")), 400, "invalid_version");
    await expectError(await sendText(rhea, "PUT", versionPath(applianceId, "0.0.1")), 403, "access_denied");
  });
});

describe("a published version", () => {
  let applianceId: number;
  let buildId: number;
  beforeEach(async () => {
    ({ applianceId, buildId } = await publishedAppliance(tux));
  });

  it("cannot be built again, deleted, or deleted with its appliance", async () => {
    const build = (more: object) =>
      tux.post("/running_builds", { appliance_id: applianceId, version: "0.0.1", ...more });
    for (const more of [{}, { force: 1 }, { image_type: "iso" }]) {
      await expectError(await build(more), 400, "image_is_locked");
    }
    await expectError(await tux.delete(`/builds/${buildId}`), 400, "cannot_delete_published_build");
    await expectError(await tux.delete(`/appliances/${applianceId}`), 400, "cannot_delete_published_build");

    expect((await tux.get(`/builds/${buildId}`)).status).toBe(200);
    expect((await detail(applianceId)).formats["@count"]).toBe("1");
  });

  it("does not block the next version or cancel its build", async () => {
    const next = await startBuild(tux, applianceId);
    await expectError(await tux.delete(`/appliances/${applianceId}`), 400, "cannot_delete_published_build");
    expect((await readXml(await tux.get(`/running_builds/${next}`))).running_build.state).toBe("queued");
  });

  it("can be unpublished once by its owner, and is then normal", async () => {
    await expectError(await rhea.delete(galleryPath(applianceId, "/version/0.0.1")), 403, "access_denied");
    const answer = await tux.delete(galleryPath(applianceId, "/version/0.0.1"));
    expect([answer.status, await answer.text()]).toEqual([200, "<success></success>\n"]);

    await expectError(await tux.delete(galleryPath(applianceId, "/version/0.0.1")), 404, "version_not_published");
    await expectError(await rhea.get(galleryPath(applianceId)), 403, "access_denied");
    await expectError(await tux.get(galleryPath(applianceId)), 404, "version_not_published");
    expect((await tux.delete(`/builds/${buildId}`)).status).toBe(200);
    expect((await tux.delete(`/appliances/${applianceId}`)).status).toBe(200);
  });

  it("stays with later ones, ascending; the last published is shown", async () => {
    const { agent } = await createBuild(rhea);
    await agent.buildsSuccessfully(await startBuild(tux, applianceId));
    await publish(tux, applianceId, "0.0.2");

    expect(await versions(applianceId)).toEqual({ "@count": "2", version: ["0.0.1", "0.0.2"] });
    expect((await detail(applianceId)).version).toBe("0.0.2");
    expect((await detail(applianceId, "/version/0.0.1")).version).toBe("0.0.1");

    await tux.delete(galleryPath(applianceId, "/version/0.0.2"));
    expect((await detail(applianceId)).version).toBe("0.0.1");
  });

  it("is deleted completely or not at all if both happen simultaneously", async () => {
    const { applianceId: id, buildId: image } = await createBuild(tux);

    const [published, deleted] = await Promise.all([publish(tux, id), tux.delete(`/appliances/${id}`)]);

    if (published.ok) {
      await expectError(deleted, 400, "cannot_delete_published_build");
      expect((await tux.get(`/builds/${image}`)).status).toBe(200);
    } else {
      expect(deleted.status).toBe(200);
      await expectError(await rhea.get(galleryPath(id)), 404, "invalid_appliance_id");
    }
  });
});
