import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { imageBefore, keepImage } from "#domain/software/last-image";
import { resolve, type SoftwareResolution } from "#domain/software/resolution";
import { loadSoftware, type ApplianceSoftware } from "#domain/software/resolution-request";
import { findAppliance } from "#storage/appliances";
import { openDatabase } from "#storage/db";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";

const db = openDatabase(env);
const place = { env, db };

let tux: Client;
let applianceId: number;
beforeEach(async () => {
  tux = await signedIn();
  applianceId = await createAppliance(tux);
});

/** The appliance's software, with repositories whose parts do not exist, so loading them fails. */
async function unloadableSoftware(): Promise<ApplianceSoftware> {
  const appliance = (await findAppliance(db, tux.accountId, applianceId)) ?? expect.fail();
  const software = await loadSoftware(db, appliance);
  const revision = crypto.randomUUID();
  return { ...software, repositories: software.repositories.map((one) => ({ ...one, revision, parts: [revision] })) };
}

const solved = async (): Promise<SoftwareResolution> => {
  const appliance = (await findAppliance(db, tux.accountId, applianceId)) ?? expect.fail();
  return await resolve(place, await loadSoftware(db, appliance));
};

const rows = () =>
  env.DB.prepare("SELECT count(*) AS n FROM last_images WHERE appliance_id = ?").bind(applianceId).first("n");

it("reads the stored resolution of the last change without resolving", async () => {
  const [software, resolution] = [await unloadableSoftware(), await solved()];
  await keepImage(db, applianceId, { software, resolution });

  const image = (await imageBefore(place, applianceId, software)) ?? expect.fail();

  expect(image.size).toBeGreaterThan(5);
  expect(image).toContain("busybox-1.35.0-1.x86_64");
});

it("stores that the last change could not be resolved", async () => {
  const software = await unloadableSoftware();
  await keepImage(db, applianceId, { software, resolution: { state: "unsolvable", problems: [] } });
  expect(await imageBefore(place, applianceId, software)).toBeUndefined();
});

it("resolves again if the stored resolution is of other software", async () => {
  const appliance = (await findAppliance(db, tux.accountId, applianceId)) ?? expect.fail();
  const software = await loadSoftware(db, appliance);
  await keepImage(db, applianceId, { software, resolution: { state: "unsolvable", problems: [] } });

  const more = { ...software, selection: [...software.selection, choice("gcc-c++")] };

  expect(await imageBefore(place, applianceId, more)).toContain("gcc-c++-12.2.0-1.x86_64");
});

it("stores a resolution with every change until the appliance is deleted", async () => {
  expect(await rows()).toBe(0);
  for (const name of ["hello", "bash"]) await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name });
  expect(await rows()).toBe(1);

  await tux.delete(`/appliances/${applianceId}`);
  expect(await rows()).toBe(0);
  await keepImage(db, applianceId, { software: unknownSoftware, resolution: { state: "unsolvable", problems: [] } });
  expect(await rows()).toBe(0);
});

const choice = (name: string) => ({ kind: "package" as const, name, version: null, repositoryId: null });

const unknownSoftware: ApplianceSoftware = {
  arch: "x86_64",
  imageType: "oem",
  settings: { firstBoot: "none", automaticUpdates: "none", diskEncryption: "none", fileSystem: "ext4" },
  baseSystem: undefined,
  repositories: [],
  selection: [],
};
