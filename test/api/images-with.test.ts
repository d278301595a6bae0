/** Finds the images that have a package, with an index that a chore fills and that follows changes of images. */
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import type { InstalledPackage } from "#lib/contract/index";
import { listPackageVersions } from "#storage/image-packages";
import { openDatabase } from "#storage/db";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { rowsRead } from "../meter/growth/rows-read.ts";
import { copyRow, unique } from "../support/many-rows.ts";
import { takeChores } from "../support/sweep.ts";

const json = { headers: { accept: "application/json" } };
const db = openDatabase(env);

const ssl: InstalledPackage = {
  name: "libssl3",
  epoch: "1",
  version: "3.0.15",
  release: "1",
  arch: "amd64",
  source: { name: "openssl", version: "1:3.0.15-1" },
};
const bash: InstalledPackage = { name: "bash", version: "5.2", release: "2", arch: "amd64" };

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

const list = () => takeChores([{ body: { chore: "listInstalledPackages", at: Date.now() } }]);

const built = async (...installed: InstalledPackage[]) => (await createBuild(tux, undefined, { installed })).buildId;

interface Found {
  build_id: number;
  packages: { name: string; version: string; arch: string }[];
}

async function imagesWith(query: string, client = tux): Promise<Found[]> {
  const answer = await client.get(`/account/images?${query}`, json);
  expect(answer.status).toBe(200);
  return (await answer.json<{ images: Found[] }>()).images;
}

const idsWith = async (query: string, client = tux) => (await imagesWith(query, client)).map(({ build_id: id }) => id);

it("finds the account's images by a package and its version, newest first", async () => {
  const first = await built(ssl, bash);
  const second = await built({ ...ssl, version: "3.0.16" }, bash);
  await built(bash);
  await list();

  expect(await imagesWith("package=libssl3")).toMatchObject([
    { build_id: second, packages: [{ name: "libssl3", version: "1:3.0.16-1", arch: "amd64" }] },
    { build_id: first, appliance: "Kiosk", version: "0.0.1", packages: [{ version: "1:3.0.15-1" }] },
  ]);
  expect(await idsWith("package=libssl3&version=1:3.0.15-1")).toEqual([first]);
  expect(await idsWith(`package=bash&before=${second}`)).toEqual([first]);
  expect(await idsWith("package=openssl")).toEqual([]);
  expect(await idsWith("package=bash", await signedIn())).toEqual([]);
});

it("knows the source of each package, or takes the package for it", async () => {
  await built({ ...ssl, source: { name: "nss", version: "2:3-1" } }, { ...bash, name: "dash" });
  await list();
  expect(await listPackageVersions(db, { source: "nss" })).toMatchObject([
    { name: "libssl3", version: "1:3.0.15-1", sourceVersion: "2:3-1", baseSystem: "tiny-1.0" },
  ]);
  expect(await listPackageVersions(db, { source: "dash" })).toMatchObject([{ name: "dash", sourceVersion: "5.2-2" }]);
});

it("lists no image twice, and forgets those that are deleted or replaced", async () => {
  const odd: InstalledPackage = { ...bash, name: "odd" };
  const deleted = await built(odd);
  const applianceId = await createAppliance(tux);
  const { agent } = await createBuild(tux);
  const replaced = await startBuild(tux, applianceId);
  await agent.buildsSuccessfully(replaced, undefined, { installed: [odd] });
  await list();
  await list();
  expect(await idsWith("package=odd")).toEqual([replaced, deleted]);

  await tux.delete(`/builds/${deleted}`);
  const again = await startBuild(tux, applianceId, { version: "0.0.1", force: "true" });
  await agent.buildsSuccessfully(again, undefined, { installed: [odd] });
  await list();

  expect(await idsWith("package=odd")).toEqual([again]);
  const kept = await env.DB.prepare("SELECT count(*) AS n FROM image_packages WHERE build_id IN (?, ?)")
    .bind(deleted, replaced)
    .first<{ n: number }>();
  expect(kept?.n).toBe(0);
});

it("reads only the account's own images, 10,000 of them, with as many of another one", async () => {
  const image = await built({ ...bash, name: "common" }, { ...bash, name: "rare" });
  const other = (await createBuild(await signedIn(), undefined, { installed: [{ ...bash, name: "common" }] })).buildId;
  await list();
  const [common] = await listPackageVersions(db, { name: "common" });
  for (const id of [image, other]) {
    const changes = { uid: unique("uid"), download_token: unique("download_token"), version: unique("version") };
    await copyRow("builds", { id, times: 10_000, changes });
    await env.DB.prepare(
      `INSERT OR IGNORE INTO image_packages (account_id, build_id, packages)
       SELECT account_id, id, ? FROM builds WHERE appliance_id IN (SELECT appliance_id FROM builds WHERE id = ?)`,
    )
      .bind(JSON.stringify([common?.id]), id)
      .run();
  }

  const rows = await rowsRead(async () => expect(await idsWith("package=rare")).toEqual([image]));
  const read = [...rows.values()].reduce((sum, one) => sum + one, 0);
  // For each image: its package list, the build and the appliance.
  expect(read).toBeLessThan(3 * 10_001 + 100);
  const pages = await idsWith("package=common");
  while (pages.length < 10_001) {
    const more = await idsWith(`package=common&before=${pages.at(-1)}`);
    if (more.length === 0) break;
    pages.push(...more);
  }
  expect(new Set(pages).size).toBe(10_001);
});
