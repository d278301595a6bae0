/** The sources of a published image, which everyone may read to rebuild it. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { FrozenInput, StoredPackages } from "#lib/contract/index";
import { openDatabase } from "#storage/db";
import { needPackages, saveStoredPackage } from "#storage/stored-packages";
import { packageBlob, packagePieceKey } from "#storage/blobs";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent, sha256 } from "../support/fake-agent.ts";
import { uploadFile } from "../support/files.ts";
import { addUserRepository, configure, galleryPath, publish } from "../support/gallery.ts";
import { expectError, readXml } from "../support/xml.ts";

const db = openDatabase(env);

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

const open = (buildId: number | string, path = "input.json") => visit(`/published/${buildId}/${path}`);
const textAt = async (buildId: number, path: string) => {
  const answer = await open(buildId, path);
  return answer.ok ? await answer.text() : answer.status;
};

/** An appliance with a file and a package of its owner, and a build of the appliance. */
async function built(content = "hello", configuration = "") {
  const applianceId = await createAppliance(tux);
  await uploadFile(tux, applianceId, content, { query: { filename: "motd", path: "/etc" } });
  await addUserRepository(tux, applianceId, "their-own");
  await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "their-own" });
  if (configuration !== "") await configure(tux, applianceId, configuration);
  const buildId = await startBuild(tux, applianceId);
  const { uid } = await (await fakeAgent()).buildsSuccessfully(buildId, bytesOf("an image"));
  return { applianceId, buildId, uid };
}

async function published(content?: string, configuration?: string) {
  const made = await built(content, configuration);
  expect((await publish(tux, made.applianceId)).status).toBe(200);
  const input = FrozenInput.parse(JSON.parse(String(await textAt(made.buildId, "input.json")) || "{}"));
  const file = input.files?.[0] ?? expect.fail("no file is frozen");
  const upload = input.packages.find(({ name }) => name === "their-own") ?? expect.fail("no upload is frozen");
  return { ...made, input, file, upload };
}

/** Acts like an agent that sends a package of a mirror, which this build needs. Returns its id. */
async function storesPackage({ buildId, uid }: { buildId: number; uid: string }, content: string): Promise<number> {
  const checksum = `sha256:${sha256(bytesOf(content))}`;
  await needPackages(db, buildId, [{ repositoryId: 70, checksum, size: content.length }]);
  const { packages } = StoredPackages.parse(JSON.parse(String(await textAt(buildId, "stored-packages"))));
  const id = packages.find((one) => one.checksum === checksum)?.id ?? expect.fail("it is not listed");
  const blob = packageBlob(uid, id);
  await env.BLOBS.put(packagePieceKey(blob, 1), content);
  expect(await saveStoredPackage(db, { id, blob, pieces: 1, size: content.length, maxBytes: 1e9 })).toBe(true);
  return id;
}

describe("the input of a published image", () => {
  it("is what the signed provenance names by its SHA-256, without an account", async () => {
    const { buildId } = await published();
    const { build } = await readXml(await tux.get(`/builds/${buildId}`));
    const envelope = await (
      await visit(`${new URL(build.download_url).pathname}.intoto.jsonl`)
    ).json<{
      payload: string;
    }>();
    const statement = atob(envelope.payload);

    const answer = await open(buildId);

    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    expect(statement).toContain(`"frozenInput":"${sha256(await answer.bytes())}"`);
  });

  it("comes with the files and packages of its owner, and with those that mirrors may have dropped", async () => {
    const one = await published("hello");
    const id = await storesPackage(one, "a package of a mirror");

    expect(await textAt(one.buildId, `contents/${one.file.blobId}`)).toBe("hello");
    const upload = await open(one.buildId, one.upload.location);
    expect(sha256(await upload.bytes())).toBe(one.upload.checksum.value);
    expect(await textAt(one.buildId, `stored-packages/${id}/1`)).toBe("a package of a mirror");
    expect(await textAt(one.buildId, `stored-packages/${id}/2`)).toBe(404);
  });

  it("has nothing of another build, whatever id is named", async () => {
    const one = await published("hello");
    const id = await storesPackage(one, "of the first one");
    tux = await signedIn();
    const other = await published("their secret");

    expect(await textAt(other.buildId, `contents/${one.file.blobId}`)).toBe(404);
    expect(await textAt(other.buildId, one.upload.location)).toBe(404);
    expect(await textAt(other.buildId, `stored-packages/${id}/1`)).toBe(404);
    // A file's blob is not served as a package, and an upload's blob is not served as a file.
    expect(await textAt(one.buildId, `packages/${one.file.blobId}/0/motd`)).toBe(404);
    expect(await textAt(one.buildId, `contents/${one.upload.location.split("/")[1]}`)).toBe(404);
  });
});

/** Every path below the build. */
const paths = ({ file, upload }: Awaited<ReturnType<typeof published>>) => [
  "input.json",
  `contents/${file.blobId}`,
  upload.location,
  "stored-packages",
  "stored-packages/1/1",
];

describe("the input of any other image", () => {
  it("cannot be read before it is published, nor after it has left the gallery", async () => {
    const unpublished = await built();
    expect(await textAt(unpublished.buildId, "input.json")).toBe(404);
    const one = await published();
    expect((await tux.delete(galleryPath(one.applianceId, "/version/0.0.1"))).ok).toBe(true);
    for (const path of paths(one)) expect(await textAt(one.buildId, path)).toBe(404);
  });

  it("is refused if the publisher does not allow cloning", async () => {
    const one = await published();
    await env.DB.prepare("UPDATE publications SET public_clonable = 0 WHERE appliance_id = ?")
      .bind(one.applianceId)
      .run();
    for (const path of paths(one)) await expectError(await open(one.buildId, path), 403, "access_denied");
  });

  it.each(["0", "-1", "x", "1e99", "99999999"])("does not exist: %s", async (id) => {
    expect((await open(id)).status).toBe(404);
  });
});
