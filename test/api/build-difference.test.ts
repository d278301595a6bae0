import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { expireOldImages } from "#domain/builds/retention";
import { openDatabase } from "#storage/db";
import { signedIn, type Client } from "../support/client.ts";
import { createBuild, startBuild } from "../support/factories.ts";
import { bytesOf } from "../support/fake-agent.ts";
import { fileStoreOf } from "../support/file-store.ts";
import { configure, galleryPath, publish } from "../support/gallery.ts";
import { expectError, readXml } from "../support/xml.ts";

const rpm = (name: string, version: string, license?: string) => ({
  name,
  version,
  release: "1",
  arch: "x86_64",
  ...(license !== undefined && { license }),
});

/** Two builds of one appliance; the second has a different host name, packages and files. */
async function twoBuilds(tux: Client) {
  const {
    applianceId,
    buildId: first,
    agent,
  } = await createBuild(tux, bytesOf("an image"), {
    installed: [rpm("busybox", "1.35.0", "GPL-2.0-only"), rpm("nano", "7.2", "GPL-3.0-only")],
    store: fileStoreOf({ "/etc/motd": "Welcome\n", "/etc/old": "x", "/usr/bin/a": "a" }),
  });
  await configure(tux, applianceId, "<network><type>dhcp</type><hostname>desk</hostname></network>");
  const second = await startBuild(tux, applianceId);
  await agent.buildsSuccessfully(second, bytesOf("a larger image"), {
    rawSize: 700 * 1024 ** 2,
    installed: [rpm("busybox", "1.36.0", "GPL-2.0-only"), rpm("hello", "1.0", "MIT")],
    store: fileStoreOf({ "/etc/motd": "Goodbye\n", "/etc/new\nline": "x", "/usr/bin/a": "a" }),
  });
  return { applianceId, first, second };
}

let tux: Client;
let eve: Client;
let applianceId: number;
let first: number;
let second: number;
beforeAll(async () => {
  [tux, eve] = await Promise.all([signedIn(), signedIn()]);
  ({ applianceId, first, second } = await twoBuilds(tux));
});

const path = (from: number, to: number, more = "") => `/builds/${from}/difference?to=${to}${more}`;
const difference = async (more = "", client = tux) =>
  (await readXml(await client.get(path(first, second, more)))).difference;
const asText = async (address: string, client = tux) => {
  const answer = await client.get(address, { headers: { accept: "text/plain" } });
  expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  return await answer.text();
};

describe("the difference of two builds", () => {
  it("lists packages, licences, settings, size and files", async () => {
    const { from, to, packages, licenses, settings, files } = await difference();

    expect(from).toMatchObject({ build_id: String(first), version: "0.0.1", raw_size: String(600 * 1024 ** 2) });
    expect(to).toMatchObject({ build_id: String(second), version: "0.0.2", raw_size: String(700 * 1024 ** 2) });
    expect(packages.package).toEqual([
      {
        change: "changed",
        name: "busybox",
        from: expect.objectContaining({ version: "1.35.0-1", license: "GPL-2.0-only" }),
        to: expect.objectContaining({ version: "1.36.0-1" }),
      },
      { change: "added", name: "hello", to: expect.objectContaining({ version: "1.0-1", arch: "x86_64" }) },
      { change: "removed", name: "nano", from: expect.objectContaining({ version: "7.2-1" }) },
    ]);
    expect(licenses).toEqual({ known: "true", added: "MIT", removed: "GPL-3.0-only" });
    expect([settings.setting].flat()).toContainEqual(expect.objectContaining({ name: "hostname", to: "desk" }));
    expect(files.state).toBe("compared");
    expect(files.file.map(({ change, path: at }: Record<string, string>) => `${change} ${at}`)).toEqual([
      "changed /etc/motd",
      "added /etc/new\nline",
      "removed /etc/old",
    ]);
  });

  it("is the same in JSON", async () => {
    const answer = await tux.get(path(first, second), { headers: { accept: "application/json" } });
    const { difference: told } = await answer.json<{ difference: Record<string, never> }>();
    expect(told).toMatchObject({
      from: { build_id: first },
      packages: [{ name: "busybox" }, { name: "hello" }, { name: "nano" }],
      licenses: { known: true, added: ["MIT"], removed: ["GPL-3.0-only"] },
      files: { state: "compared", file: [{ path: "/etc/motd" }, { path: "/etc/new\nline" }, { path: "/etc/old" }] },
    });
  });

  it("is also a text with one line per change", async () => {
    const lines = (await asText(path(first, second))).split("\n");

    expect(lines[0]).toBe(`Kiosk 0.0.2 (oem, build ${second}), compared with Kiosk 0.0.1 (oem, build ${first})`);
    for (const line of [
      "  * busybox 1.35.0-1.x86_64 -> 1.36.0-1.x86_64",
      "  + hello 1.0-1.x86_64",
      "  - nano 7.2-1.x86_64",
      "  + MIT",
      "  disk or medium: 629145600 -> 734003200 bytes",
      "  + /etc/new\\x0aline (file 644 root:root, 1 bytes)",
      "  - /etc/old (file 644 root:root, 1 bytes)",
    ]) {
      expect(lines).toContain(line);
    }
    expect(lines.some((line) => /^ {2}[*+] hostname: .*desk$/.test(line))).toBe(true);
  });

  it("is empty between a build and itself", async () => {
    const { packages, settings, files } = (await readXml(await tux.get(path(first, first)))).difference;
    expect([packages.package, settings.setting, files]).toEqual([undefined, undefined, { state: "compared" }]);
  });

  it("lists the files of one directory, in linked pages", async () => {
    expect((await difference("&path=/usr")).files).toEqual({ state: "compared" });
    expect((await difference("&path=/etc/old/")).files.file.path).toBe("/etc/old");
    const page = (await difference("&path=/etc&limit=2")).files;
    expect(page.file).toHaveLength(2);

    const next = new URL(page.next_url);
    const rest = await tux.get(next.href.replace(/^.*\/api\/v2\/user/, ""));

    expect((await readXml(rest)).difference.files).toMatchObject({ state: "compared", file: { path: "/etc/old" } });
  });

  it("reports an expired image's files as gone, with the rest", async () => {
    const rhea = await signedIn();
    const made = await twoBuilds(rhea);
    await env.DB.prepare("UPDATE builds SET completed_at = 0 WHERE id = ?").bind(made.first).run();
    await expireOldImages({ env: { BLOBS: env.BLOBS, KEEP_IMAGES_DAYS: "1" }, db: openDatabase(env) }, Date.now());

    const told = (await readXml(await rhea.get(path(made.first, made.second)))).difference;

    expect(told.files).toEqual({ state: "gone" });
    expect(told.packages.package).toHaveLength(3);
    expect(await asText(path(made.first, made.second), rhea)).toContain("The files of one of the images are gone.");
  });
});

describe("access to a difference", () => {
  it("includes the account's own, shared and published builds", async () => {
    const own = (await createBuild(eve)).buildId;
    const both = [path(own, first), path(first, own)];
    await expectError(await eve.get(path(own, first)), 400, "invalid_build_id");
    await expectError(await eve.get(path(first, own)), 404, "invalid_build_id");

    await tux.post(`/appliances/${applianceId}/sharing/${eve.username}`);
    for (const each of both) expect((await eve.get(each)).status).toBe(200);
    await tux.delete(`/appliances/${applianceId}/sharing/${eve.username}`);
    for (const each of both) expect((await eve.get(each)).ok).toBe(false);

    await publish(tux, applianceId, "0.0.1");
    for (const each of both) expect((await eve.get(each)).status).toBe(200);
    await expectError(await eve.get(path(first, second)), 400, "invalid_build_id");

    await tux.delete(galleryPath(applianceId, "/version/0.0.1"));
    for (const each of both) expect((await eve.get(each)).ok).toBe(false);
  });
});

const draftPath = (version: string) => galleryPath(applianceId, `/version/${version}/release_notes_draft`);

describe("a draft of release notes", () => {
  it("lists the changes since the last published version, and stores nothing", async () => {
    expect(await asText(draftPath("0.0.1"))).toMatch(/^The first version: .*\nIt has 2 packages; the download is /);
    await publish(tux, applianceId, "0.0.1", "First");

    const { appliance } = (await readXml(await tux.get(draftPath("0.0.2")))).gallery;

    expect(appliance).toMatchObject({ id: String(applianceId), version: "0.0.2", since: "0.0.1" });
    const text = await asText(draftPath("0.0.2"));
    expect(text).toMatch(/^[A-Z].* hello .*\.$/m);
    expect(appliance.release_notes).toBe(text.trim());
    const notes = async () => (await readXml(await tux.get(galleryPath(applianceId)))).gallery.appliance.release_notes;
    expect(await notes()).toBe("First");
    await publish(tux, applianceId, "0.0.2", text);
    expect(await notes()).toBe(text.trim());
    // A published version is also compared with its predecessor.
    expect(await asText(draftPath("0.0.2"))).toBe(text);
    expect(await asText(draftPath("0.0.1"))).toMatch(/^The first version/);
  });

  it("is available only to the owner", async () => {
    await expectError(await eve.get(draftPath("0.0.2")), 403, "access_denied");
  });
});
