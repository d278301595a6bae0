import { env } from "cloudflare:workers";
import { packTar } from "modern-tar";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { gunzipSync } from "node:zlib";
import { importRepository } from "#domain/repositories/import";
import { fixUserRepositories, removeStrayUploads } from "#domain/rpms/sweep";
import { openDatabase } from "#storage/db";
import { findUserRepository } from "#storage/repositories";
import { archivedPackageKey, uploadKey, userRepositoryFileKey } from "#storage/blobs";
import { pickPart, readRepomd } from "#lib/repodata/repomd";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { rpmOf } from "../support/packages.ts";
import { readXml } from "../support/xml.ts";

const base = "tiny-1.0";
const db = openDatabase(env);
const hourMs = 60 * 60_000;
beforeAll(loadTemplates);

/** Uploads a file as a raw body; returns the upload's id. */
async function uploads(tux: Client, file: Uint8Array<ArrayBuffer>): Promise<string> {
  const answer = await visit(`/api/v2/user/rpms?base_system=${base}`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` },
    body: file,
  });
  return (await readXml(answer)).rpm.id;
}

async function repositoryOf(tux: Client) {
  const repository = await findUserRepository(db, tux.accountId, base);
  if (!repository) throw new Error("there is no user repository");
  return repository;
}

/** Reads the repository as zypper does: repomd.xml, then primary.xml, then packages. */
async function reader(tux: Client) {
  const { uid } = await repositoryOf(tux);
  const get = async (path: string) => {
    const [, blobId = "", number] = /^packages\/([^/]+)\/(\d+)\//.exec(path) ?? [];
    const keys = blobId
      ? [archivedPackageKey(blobId, Number(number)), uploadKey(blobId)]
      : [userRepositoryFileKey(uid, path)];
    for (const key of keys) {
      const file = await env.BLOBS.get(key);
      if (file) return new Uint8Array(await file.arrayBuffer());
    }
    throw new Error(`there is no ${path}`);
  };
  const locations = async (): Promise<string[]> => {
    const repomd = readRepomd(await get("repodata/repomd.xml"));
    const primary = await get(pickPart(repomd.parts, "primary")?.path ?? "");
    const xml = gunzipSync(primary).toString();
    const found = [...xml.matchAll(/<location href="([^"]+)"/g)].map(([, href = ""]) => href);
    expect(xml).toContain(`packages="${found.length}"`);
    return found;
  };
  const fileNames = async () => (await locations()).map((location) => location.split("/").at(-1)).toSorted();
  return { get, locations, fileNames };
}

const tarOf = async (files: Record<string, Uint8Array>) =>
  Uint8Array.from(
    await packTar(Object.entries(files).map(([name, body]) => ({ header: { name, size: body.byteLength }, body }))),
  );

describe("a user repository", () => {
  it("contains the packages of RPMs and archives, each at its location", async () => {
    const tux = await signedIn();
    const files = { one: rpmOf("one"), two: rpmOf("two", { version: "2^git+1~rc" }), three: rpmOf("three") };
    await uploads(tux, files.one);
    await uploads(tux, await tarOf({ "x/two.rpm": files.two, "three.rpm": files.three }));

    const { get, locations, fileNames } = await reader(tux);

    expect(await fileNames()).toEqual([
      "one-1.0-1.noarch.rpm",
      "three-1.0-1.noarch.rpm",
      "two-2^git+1~rc-1.noarch.rpm",
    ]);
    expect(await Promise.all((await locations()).map(get))).toEqual([files.one, files.two, files.three]);
  });

  it("is imported like any other repository", async () => {
    const tux = await signedIn();
    await uploads(tux, rpmOf("one"));
    const { id } = await repositoryOf(tux);
    await importRepository({ env, db }, id);
    expect(await repositoryOf(tux)).toMatchObject({
      name: `${tux.username} Tiny Linux 1.0`,
      url: `service:/user/${id}`,
      type: "rpm-md",
      baseSystem: base,
      importState: "ready",
      packageCount: 1,
      problem: null,
    });
  });

  it("contains the later of two equal packages, until that is deleted", async () => {
    const tux = await signedIn();
    const [early, late] = [rpmOf("a", { payload: "early" }), rpmOf("a", { payload: "the later one" })];
    await uploads(tux, early);
    const archive = await uploads(tux, await tarOf({ "a.rpm": late }));
    const { get, locations } = await reader(tux);
    const content = async () => {
      const [location = "", ...others] = await locations();
      expect(others).toEqual([]);
      return await get(location);
    };
    expect(await content()).toEqual(late);
    await tux.delete(`/rpms/${archive}`);
    expect(await content()).toEqual(early);
  });

  it("still exists, empty, after its last package is deleted", async () => {
    const tux = await signedIn();
    const rpm = await uploads(tux, rpmOf("a"));
    const before = await repositoryOf(tux);
    await tux.delete(`/rpms/${rpm}`);
    expect(await (await reader(tux)).locations()).toEqual([]);
    expect((await repositoryOf(tux)).id).toBe(before.id);
  });

  it("contains all packages of simultaneous uploads, each once it is answered, with few writes", async () => {
    const tux = await signedIn();
    const names = Array.from({ length: 10 }, (_, index) => `p${index}`);
    const put = vi.spyOn(Object.getPrototypeOf(env.BLOBS) as R2Bucket, "put");

    const found = names.map(async (name) => {
      await uploads(tux, rpmOf(name));
      const { packageCount } = await repositoryOf(tux);
      return [packageCount > 0, (await (await reader(tux)).fileNames()).includes(`${name}-1.0-1.noarch.rpm`)];
    });

    expect(await Promise.all(found)).toEqual(names.map(() => [true, true]));
    expect(await (await reader(tux)).fileNames()).toEqual(names.map((name) => `${name}-1.0-1.noarch.rpm`));
    expect((await repositoryOf(tux)).packageCount).toBe(names.length);
    const writes = put.mock.calls.filter(([key]) => key.endsWith("/repodata/repomd.xml"));
    put.mockRestore();
    expect(writes.length).toBeGreaterThan(0);
    expect(writes.length).toBeLessThanOrEqual(names.length / 2);
  });
});

describe("the keys of a user repository's blobs", () => {
  it("cannot be guessed", async () => {
    const tux = await signedIn();
    await uploads(tux, rpmOf("a"));
    const { objects } = await env.BLOBS.list({ prefix: "user-repositories/" });
    expect(objects).not.toEqual([]);
    for (const { key } of objects)
      expect(key).toMatch(/^user-repositories\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\//);
  });
});

describe("the sweep of user repositories", () => {
  it("publishes an index that a crash left unwritten", async () => {
    const tux = await signedIn();
    await uploads(tux, rpmOf("a"));
    const { uid } = await repositoryOf(tux);
    await env.BLOBS.delete(userRepositoryFileKey(uid, "repodata/repomd.xml"));
    await fixUserRepositories({ env, db });
    expect(await (await reader(tux)).fileNames()).toEqual(["a-1.0-1.noarch.rpm"]);
  });

  it("deletes old blobs of uploads without a row", async () => {
    const tux = await signedIn();
    const file = rpmOf("a");
    await uploads(tux, file);
    const stray = "uploads/00000000-0000-0000-0000-000000000000/file";
    await env.BLOBS.put(stray, "of a client that disconnected");
    await removeStrayUploads({ env, db }, Date.now() + hourMs);
    expect(await env.BLOBS.head(stray)).not.toBeNull();
    await removeStrayUploads({ env, db }, Date.now() + 25 * hourMs);
    expect(await env.BLOBS.head(stray)).toBeNull();
    const { get, locations } = await reader(tux);
    expect(await get((await locations())[0] ?? "")).toEqual(file);
  });
});
