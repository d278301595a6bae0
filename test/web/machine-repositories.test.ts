/** User repositories, as an appliance's machines read them at the URL in their image. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { gunzipSync } from "node:zlib";
import { exposedBy } from "#domain/appliances/exposed-secrets";
import { examine } from "#domain/appliances/status";
import { freezeInput } from "#domain/builds/frozen-input";
import { machineRepositoryOf } from "#domain/repositories/machine-repository";
import { FrozenInput } from "#lib/contract/index";
import { verifyClearsigned, verifySigner } from "#lib/repodata/signature";
import { openDatabase } from "#storage/db";
import { listApplianceRepositories } from "#storage/appliances";
import { rowOf } from "../support/configurations.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { debOf } from "../support/deb-package.ts";
import { loadDebian } from "../support/debian.ts";
import { createAppliance } from "../support/factories.ts";
import { configure } from "../support/gallery.ts";
import { rpmOf } from "../support/packages.ts";
import { send } from "../support/rpm-uploads.ts";
import { readXml } from "../support/xml.ts";

const db = openDatabase(env);
const service = { ...env, BASE_URL: "https://kiln.example.org" };
const switched = (on: boolean) => `<settings><update_uploads>${on}</update_uploads></settings>`;

beforeAll(async () => {
  await loadTemplates();
  await loadDebian();
});

/** An appliance with the account's uploads. Its machines may read them. */
async function openAppliance(tux: Client, template: 1 | 900, file: Uint8Array<ArrayBuffer>): Promise<number> {
  const id = await createAppliance(tux, { clone_from: template });
  await upload(tux, template, file);
  await readXml(await tux.post(`/appliances/${id}/cmd/add_user_repository`));
  await configure(tux, id, switched(true));
  return id;
}

const upload = async (tux: Client, template: 1 | 900, file: Uint8Array<ArrayBuffer>) =>
  await readXml(await send(tux, file, { path: `/rpms?base_system=${template === 900 ? "debian-test" : "tiny-1.0"}` }));

async function repositoryOf(id: number, of = service) {
  const found = await machineRepositoryOf(of, await rowOf(id), await listApplianceRepositories(db, id));
  if (!found) throw new Error("there is no repository for machines");
  return { ...found, path: new URL(found.url).pathname };
}

async function frozen(id: number) {
  const appliance = await rowOf(id);
  const examined = await examine({ env: service, db }, appliance, { imageType: "oem", abilities: [] });
  return await freezeInput({ env: service, db }, appliance, { ...examined, version: "0.0.1", imageType: "oem" });
}

/** The secrets, except passwords, that others can learn from the image. */
const exposedIn = (input: FrozenInput) => exposedBy(input, () => true).map(({ kind }) => kind);

const bytesOf = async (path: string) => new Uint8Array(await (await visit(path)).arrayBuffer());

describe("the user repository for the machines of a Debian appliance", () => {
  it("is signed, and has the newest uploads", async () => {
    const tux = await signedIn();
    const id = await openAppliance(tux, 900, await debOf("tool 1"));
    const newer = await debOf("tool 2");
    await upload(tux, 900, newer);
    const { path, fingerprint, armour } = await repositoryOf(id);

    const { text, signer } = await verifyClearsigned(await bytesOf(`${path}/InRelease`), [
      { name: "", fingerprint, armour },
    ]);
    expect(signer.fingerprint).toBe(fingerprint.toUpperCase());
    expect(text).toContain("Origin: Kiln uploads\n");
    const [, sha256 = ""] = /^ ([0-9a-f]{64}) \d+ Packages\.gz$/m.exec(text) ?? [];
    const packages = gunzipSync(await bytesOf(`${path}/by-hash/SHA256/${sha256}`)).toString();
    const locations = [...packages.matchAll(/^Filename: (.*)$/gm)].map(([, location = ""]) => location);
    expect(locations).toHaveLength(2);
    const last = locations.find((location) => location.endsWith("tool_2_all.deb"));
    expect(await bytesOf(`${path}/${last}`)).toEqual(newer);
  });

  it("is in the image, with a key that apt trusts for nothing else", async () => {
    const tux = await signedIn();
    const id = await openAppliance(tux, 900, await debOf("tool 1"));
    const { url, armour } = await repositoryOf(id);
    const { description, keys } = FrozenInput.parse(await frozen(id));
    const key = "/usr/share/keyrings/kiln-uploads.asc";
    expect(description["root/etc/apt/sources.list.d/kiln-uploads.list"]).toBe(`deb [signed-by=${key}] ${url} ./\n`);
    expect(description[`root${key}`]).toBe(armour);
    expect(keys).toEqual([]);
    expect(exposedIn(await frozen(id))).toEqual(["user_repository"]);
    await configure(tux, id, switched(false));
    expect(exposedIn(await frozen(id))).toEqual([]);
    expect(Object.keys((await frozen(id)).description).filter((path) => path.includes("kiln-uploads"))).toEqual([]);
  });

  it("sends a range, and nothing that the machine already has", async () => {
    const tux = await signedIn();
    const { path } = await repositoryOf(await openAppliance(tux, 900, await debOf("tool 1")));
    const whole = await visit(`${path}/InRelease`);
    const etag = whole.headers.get("etag") ?? "";
    const part = await visit(`${path}/InRelease`, { headers: { range: "bytes=5-9" } });
    expect([part.status, await part.text()]).toEqual([206, (await whole.text()).slice(5, 10)]);
    expect((await visit(`${path}/InRelease`, { headers: { "if-none-match": etag } })).status).toBe(304);
  });
});

describe("the user repository for the machines of an appliance of rpm packages", () => {
  it("has a signed index, whose key the image's rpm gets", async () => {
    const tux = await signedIn();
    const id = await openAppliance(tux, 1, rpmOf("tool"));
    const { path, url, fingerprint, armour } = await repositoryOf(id);
    const index = await bytesOf(`${path}/repodata/repomd.xml`);
    const signature = await bytesOf(`${path}/repodata/repomd.xml.asc`);
    const signer = await verifySigner(index, signature, new TextEncoder().encode(armour));
    expect(signer).toMatchObject({ fingerprint: fingerprint.toUpperCase(), userIds: ["Kiln packages"] });
    const [, location = ""] = /href="(repodata\/[^"]*primary[^"]*)"/.exec(new TextDecoder().decode(index)) ?? [];
    expect((await visit(`${path}/${location}`)).status).toBe(200);
    const { description, keys } = FrozenInput.parse(await frozen(id));
    expect(description["root/etc/zypp/repos.d/kiln-uploads.repo"]).toContain(`\nbaseurl=${url}\n`);
    expect(keys).toEqual([{ name: "Kiln uploads", fingerprint, armour }]);
  });
});

describe("the address of a user repository", () => {
  it("is closed by the setting, and by the end of the appliance", async () => {
    const tux = await signedIn();
    const id = await openAppliance(tux, 900, await debOf("tool 1"));
    const { path } = await repositoryOf(id);
    const status = async () => (await visit(`${path}/InRelease`)).status;
    expect(await status()).toBe(200);
    await configure(tux, id, switched(false));
    expect(await status()).toBe(404);
    await configure(tux, id, switched(true));
    expect(await status()).toBe(200);
    await tux.delete(`/appliances/${id}`);
    expect(await status()).toBe(404);
  });

  it("opens neither a guess, nor another path, nor the uploads of another account", async () => {
    const [tux, other] = [await signedIn(), await signedIn()];
    const { path } = await repositoryOf(await openAppliance(tux, 900, await debOf("tool 1")));
    const { path: theirs } = await repositoryOf(await openAppliance(other, 900, await debOf("tool 1")));
    const list = await bytesOf(`${theirs}/InRelease`);
    const [, sha256] = /^ ([0-9a-f]{64}) \d+ Packages\.gz$/m.exec(new TextDecoder().decode(list)) ?? [];
    const packages = gunzipSync(await bytesOf(`${theirs}/by-hash/SHA256/${sha256}`)).toString();
    const [, location = ""] = /^Filename: (.*)$/m.exec(packages) ?? [];
    expect((await visit(`${theirs}/${location}`)).status).toBe(200);
    const guess = path.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    for (const closed of [`${path}/${location}`, `${guess}/InRelease`, `${path}/Release.key`, `${path}/repodata/..`]) {
      expect((await visit(closed)).status, closed).toBe(404);
    }
  });

  it("stays open while the service has the key that made it", async () => {
    const tux = await signedIn();
    const id = await openAppliance(tux, 900, await debOf("tool 1"));
    const before = await repositoryOf(id);
    const key = btoa("k".repeat(32));
    const after = await repositoryOf(id, {
      ...service,
      API_KEY_ENCRYPTION_KEY: `${key} ${env.API_KEY_ENCRYPTION_KEY}`,
    });
    expect(after.url).not.toBe(before.url);
    expect(after.fingerprint).not.toBe(before.fingerprint);
    expect((await visit(`${before.path}/InRelease`)).status).toBe(200);
    expect((await visit(`${after.path}/InRelease`)).status).toBe(404);
  });
});

const textsOf = async (id: number, of: typeof env) => {
  const { issues } = await examine({ env: of, db }, await rowOf(id), { imageType: "oem", abilities: [] });
  return issues.map(({ text }) => text).filter((text) => text.startsWith("Machines are set to find"));
};

describe("the status of an appliance whose machines read uploads", () => {
  it("names what is missing, one thing at a time", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux, { clone_from: 900 });
    expect(await textsOf(id, service)).toEqual([]);
    await configure(tux, id, switched(true));
    expect(await textsOf(id, service)).toEqual([expect.stringContaining("does not have your user repository")]);
    await upload(tux, 900, await debOf("tool 1"));
    await tux.post(`/appliances/${id}/cmd/add_user_repository`);
    expect(await textsOf(id, { ...env, BASE_URL: "" })).toEqual([expect.stringContaining("BASE_URL")]);
    expect(await textsOf(id, service)).toEqual([expect.stringContaining("ca-certificates is not selected")]);
    expect(await textsOf(id, { ...env, BASE_URL: "http://kiln.example.org" })).toEqual([]);
  });
});
