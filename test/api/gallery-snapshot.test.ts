import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { versionPublished } from "#domain/events/events";
import { deleteApplianceRows, findAnyAppliance } from "#storage/appliances";
import { contentKey } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { listOutbox } from "#storage/events";
import { addPublication, findPublication } from "#storage/publications";
import { appliances, builds, overlayFiles, publishedFiles } from "#storage/schema";
import { sent } from "./every-call/send.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { configure, galleryPath, publish, publishedAppliance } from "../support/gallery.ts";
import { sweepIn } from "../support/sweep.ts";
import { expectError, readXml } from "../support/xml.ts";

const db = openDatabase(env);
const dayMs = 24 * 60 * 60_000;
const secret = "s3cret-of-tux";
const users = `<users><user><uid>0</uid><name>root</name><password>${secret}</password></user></users>`;

let tux: Client;
let rhea: Client;
beforeAll(async () => {
  [tux, rhea] = await Promise.all([signedIn(), signedIn()]);
});

const sweepAfter = (days: number) => sweepIn(days * dayMs, { KEEP_IMAGES_DAYS: "30" });

const addFile = (id: number, text: string, name: string) =>
  sent({
    method: "POST",
    path: `/files?appliance_id=${id}&path=/etc&filename=${name}`,
    body: { file: text, name },
    credentials: tux,
  });

/** A built appliance with a file, a key and a changed selection. */
async function builtAppliance(): Promise<{ id: number; buildId: number }> {
  const id = await createAppliance(tux, { name: "Desk" });
  await configure(tux, id, `<description>One screen</description>${users}`);
  await tux.post(`/appliances/${id}/cmd/add_package`, { name: "hello" });
  await tux.post(`/appliances/${id}/cmd/ban_package`, { name: "webdemo" });
  await addFile(id, "welcome", "motd");
  const buildId = await startBuild(tux, id);
  await (await fakeAgent()).buildsSuccessfully(buildId);
  return { id, buildId };
}

describe("a published version", () => {
  let id: number;
  let buildId: number;
  beforeEach(async () => {
    ({ id, buildId } = await builtAppliance());
    expect((await publish(tux, id)).status).toBe(200);
  });

  const page = async () =>
    await Promise.all(
      ["", "/software", "/versions"].map(async (path) => (await rhea.get(galleryPath(id, path))).text()),
    );

  it("does not change when its appliance does", async () => {
    const before = await page();
    const list = await (await rhea.get(`/gallery/appliances?username=${tux.username}`)).text();

    await configure(
      tux,
      id,
      "<name>Other</name><description>No screen</description><firewall><enabled>false</enabled></firewall>",
    );
    await tux.put(`/appliances/${id}/software`, "<software><pattern>web</pattern></software>");
    await tux.put(`/appliances/${id}/repositories`, "<repositories><repository><id>1</id></repository></repositories>");
    await addFile(id, "more", "issue");

    expect(await page()).toEqual(before);
    expect(await (await rhea.get(`/gallery/appliances?username=${tux.username}`)).text()).toBe(list);
  });

  it("contains no secrets, shown or stored", async () => {
    const shown = (await page()).join("");
    expect(shown).not.toContain(secret);
    expect(shown).toContain("<user>root</user>\n          <password/>");
    const row = JSON.stringify(await findPublication(db, id));
    expect(row).not.toContain(secret);
    expect(row).not.toContain("sealed:");
    expect(row).not.toContain("@example.org");
  });

  it("keeps files and pictures that its appliance deletes", async () => {
    const [file] = await db.select().from(overlayFiles).where(eq(overlayFiles.applianceId, id));
    const blobIds = [file?.blobId ?? "", crypto.randomUUID(), crypto.randomUUID()];
    const [, logoBlob = "", backgroundBlob = ""] = blobIds;
    for (const blobId of [logoBlob, backgroundBlob]) await env.BLOBS.put(contentKey(blobId), "picture");
    await tux.delete(galleryPath(id, "/version/0.0.1"));
    await db.update(appliances).set({ logoBlob, backgroundBlob }).where(eq(appliances.id, id));
    await publish(tux, id);
    await tux.delete(`/files/${file?.id}`);
    await db.update(appliances).set({ logoBlob: null, backgroundBlob: null }).where(eq(appliances.id, id));
    const kept = () => Promise.all(blobIds.map(async (blobId) => (await env.BLOBS.head(contentKey(blobId))) !== null));

    await sweepAfter(1);
    expect(await kept()).toEqual([true, true, true]);

    await tux.delete(galleryPath(id, "/version/0.0.1"));
    expect(
      await db
        .select()
        .from(publishedFiles)
        .where(eq(publishedFiles.blobId, blobIds[0] ?? "")),
    ).toEqual([]);
    await sweepAfter(2);
    expect(await kept()).toEqual([false, false, false]);
  });

  it("keeps its images at any age, and can be downloaded", async () => {
    await sweepAfter(400);

    expect((await findAnyBuild(db, buildId))?.expiredAt).toBeNull();
    const { build } = await readXml(await tux.get(`/builds/${buildId}`));
    expect((await visit(new URL(build.download_url).pathname)).status).toBe(200);

    await tux.delete(galleryPath(id, "/version/0.0.1"));
    await sweepAfter(400);
    expect((await findAnyBuild(db, buildId))?.expiredAt).not.toBeNull();
  });

  it("cannot be published without an image", async () => {
    await tux.delete(galleryPath(id, "/version/0.0.1"));
    await sweepAfter(400);
    await expectError(await publish(tux, id), 400, "invalid_version");
  });
});

describe("the database itself", () => {
  it("keeps a published appliance whole if a deletion started earlier", async () => {
    const { applianceId, buildId } = await publishedAppliance(tux);

    await expect(deleteApplianceRows(db, applianceId)).rejects.toThrow();

    expect(await findAnyBuild(db, buildId)).toMatchObject({ status: "finished", expiredAt: null });
    expect((await tux.get(`/appliances/${applianceId}/software`)).status).toBe(200);
  });

  it.each([
    ["the image is deleted", async (id: number) => void (await db.delete(builds).where(eq(builds.applianceId, id)))],
    [
      "a build of the version starts",
      async (id: number) => void (await startBuild(tux, id, { version: "0.0.1", force: "1" })),
    ],
    [
      "the appliance changes its owner",
      async (id: number) => {
        await db.update(appliances).set({ accountId: rhea.accountId }).where(eq(appliances.id, id));
      },
    ],
    [
      "the appliance is edited",
      async (id: number) => void (await configure(tux, id, "<description>New</description>")),
    ],
  ])("publishes nothing if meanwhile %s", async (_what, happens) => {
    const { applianceId } = await publishedAppliance(tux);
    const published = await findPublication(db, applianceId);
    if (!published) throw new Error("it is not published");
    await tux.delete(galleryPath(applianceId, "/version/0.0.1"));
    const before = await findAnyAppliance(db, applianceId);
    if (!before) throw new Error("no appliance");
    await happens(applianceId);

    const row = { ...published, uuid: crypto.randomUUID() };
    const what = { announcement: versionPublished(row), moves: [], editedAt: before.lastEditedAt };
    expect(await addPublication(db, row, what)).toBeUndefined();

    expect(await findPublication(db, applianceId)).toBeUndefined();
    expect(await listOutbox(db, 10)).toEqual([]);
  });

  it("starts no build of a version that was published meanwhile", async () => {
    const { applianceId } = await createBuild(tux);

    const [published, built] = await Promise.all([
      publish(tux, applianceId),
      tux.post("/running_builds", { appliance_id: applianceId, version: "0.0.1", force: 1 }),
    ]);

    expect([published.ok, built.ok].filter(Boolean)).toHaveLength(1);
    if (published.ok) await expectError(built, 400, "image_is_locked");
    else await expectError(published, 400, "unknown_error");
  });
});
