import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { limitsOf } from "#domain/accounts/limits";
import { savePublishedClone } from "#storage/gallery-clones";
import { openDatabase } from "#storage/db";
import { appliances, galleryUses, gpgKeys, overlayFiles } from "#storage/schema";
import tiny from "../fixtures/repodata/signed/tiny.key?raw";
import { sent } from "./every-call/send.ts";
import { expectQueued } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { addUserRepository, configure, galleryPath, publish, publishedAppliance } from "../support/gallery.ts";
import { expectError, readXml } from "../support/xml.ts";

const db = openDatabase(env);
const user = (uid: number, name: string) =>
  `<user><uid>${uid}</uid><name>${name}</name><password>s3cret-of-tux</password><group>${uid ? "users" : "root"}</group><shell>/bin/sh</shell><homedir>/home</homedir></user>`;
const people = `<users>${user(0, "root")}${user(1000, "clerk")}</users>`;

let tux: Client;
let rhea: Client;
beforeAll(async () => {
  [tux, rhea] = await Promise.all([signedIn(), signedIn()]);
});

const cloneBy = async (client: Client, id: number) => {
  const { appliance } = await readXml(await client.post("/appliances", { clone_from: id, arch: "x86_64" }));
  return Number(appliance.id);
};
const documentOf = async (client: Client, path: string) => await readXml(await client.get(path));

const repositoryNames = async (client: Client, of: number) =>
  (await documentOf(client, `/appliances/${of}/repositories`)).repositories.repository.map(
    ({ name }: { name: string }) => name,
  );

describe("a clone from the gallery", () => {
  let id: number;
  beforeEach(async () => {
    id = await createAppliance(tux, { name: "Desk" });
    await configure(
      tux,
      id,
      `<description>One screen</description>${people}<firewall><enabled>false</enabled></firewall>`,
    );
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "hello", version: "1.1-1" });
    await tux.post(`/appliances/${id}/cmd/ban_package`, { name: "webdemo" });
    await addUserRepository(tux, id, "counter");
    const file = { file: "welcome", name: "motd" };
    await sent({
      method: "POST",
      path: `/files?appliance_id=${id}&path=/etc&permissions=0600`,
      body: file,
      credentials: tux,
    });
    const key = {
      name: "key",
      target: "rpm",
      fingerprint: "ab".repeat(20),
      key: tiny,
      createdAt: new Date(),
    } as const;
    await db.insert(gpgKeys).values({ ...key, applianceId: id });
    await (await fakeAgent()).buildsSuccessfully(await startBuild(tux, id));
    await publish(tux, id);
  });

  it("is of the published version, not of the current appliance", async () => {
    const software = (await documentOf(tux, `/appliances/${id}/software`)).software;
    const [original] = await db.select().from(overlayFiles).where(eq(overlayFiles.applianceId, id));
    await configure(tux, id, "<name>Other</name><description>No screen</description>");
    await tux.put(`/appliances/${id}/software`, "<software><pattern>web</pattern></software>");
    await tux.delete(`/files/${original?.id}`);

    const clone = await cloneBy(rhea, id);

    const { appliance } = await documentOf(rhea, `/appliances/${clone}`);
    expect(appliance).toMatchObject({ name: `${rhea.username}'s Desk`, parent: { id: String(id), name: "Desk" } });
    const { configuration } = await documentOf(rhea, `/appliances/${clone}/configuration`);
    expect(configuration).toMatchObject({
      description: "One screen",
      firewall: { enabled: "false" },
      version: "0.0.1",
    });
    expect((await documentOf(rhea, `/appliances/${clone}/software`)).software).toEqual({
      ...software,
      "@appliance_id": String(clone),
    });
    const { files } = await documentOf(rhea, `/files?appliance_id=${clone}`);
    expect(files.file).toMatchObject({ filename: "motd", path: "/etc", permissions: "600" });
    expect(await (await rhea.get(`/files/${files.file.id}/data`)).text()).toBe("welcome");
    expect((await documentOf(rhea, `/appliances/${clone}/gpg_keys`)).gpg_keys.gpg_key.name).toBe("key");
  });

  it("has the template's passwords instead of its publisher's", async () => {
    const { configuration } = await documentOf(rhea, `/appliances/${await cloneBy(rhea, id)}/configuration`);
    expect(configuration.users.user.map((one: { password: string }) => one.password)).toEqual(["linux", "linux"]);
  });

  it("omits repositories that its owner may not see", async () => {
    expect(await repositoryNames(tux, id)).toHaveLength(3);
    expect(await repositoryNames(rhea, await cloneBy(rhea, id))).toEqual([
      "Tiny Linux 1.0 main",
      "Tiny Linux 1.0 updates",
    ]);
  });

  it("can be built, and counts once per cloning account", async () => {
    const clone = await cloneBy(rhea, id);
    await cloneBy(rhea, id);
    await cloneBy(tux, id);
    await expectQueued(await startBuild(rhea, clone), clone);

    const uses = await db.select().from(galleryUses).where(eq(galleryUses.applianceId, id));
    expect(uses).toEqual([{ applianceId: id, accountId: rhea.accountId, kind: "clone" }]);
  });

  it("by its publisher is of the current appliance", async () => {
    await configure(tux, id, "<description>No screen</description>");
    const { configuration } = await documentOf(tux, `/appliances/${await cloneBy(tux, id)}/configuration`);
    expect(configuration.description).toBe("No screen");
    expect(configuration.users.user[0].password).toBe("s3cret-of-tux");
  });

  it("is refused once the version is unpublished, even in between", async () => {
    const [source] = await db.select().from(appliances).where(eq(appliances.id, id));
    if (!source) throw new Error("no appliance");
    const uuid = crypto.randomUUID();
    const { id: _, ...row } = source;

    const gone = { publicationId: 999_999_999, most: limitsOf(env) };
    expect(await savePublishedClone(db, { ...row, uuid, accountId: rhea.accountId }, gone)).toBeUndefined();

    expect(await db.select().from(appliances).where(eq(appliances.uuid, uuid))).toEqual([]);
    await tux.delete(galleryPath(id, "/version/0.0.1"));
    await expectError(await rhea.post("/appliances", { clone_from: id }), 400, "invalid_appliance_id");
  });
});

it("is refused if the published setting forbids it", async () => {
  const closed = "<settings><public_clonable>false</public_clonable></settings>";
  const { applianceId } = await publishedAppliance(tux, { configuration: closed });
  await configure(tux, applianceId, closed.replace("false", "true"));

  await expectError(await rhea.post("/appliances", { clone_from: applianceId }), 403, "access_denied");
  expect([(await readXml(await rhea.get("/appliances"))).appliances.appliance ?? []].flat()).not.toContainEqual(
    expect.objectContaining({ parent: expect.objectContaining({ id: String(applianceId) }) }),
  );
  await tux.post(`/appliances/${applianceId}/sharing/${rhea.username}`);
  expect((await rhea.post("/appliances", { clone_from: applianceId, arch: "x86_64" })).status).toBe(200);
});
