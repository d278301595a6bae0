import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { repositories } from "#storage/schema";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createSafeAppliance, createBuild } from "../support/factories.ts";
import { tinyRepository } from "../support/repositories.ts";
import { expectLike } from "./fixtures.ts";

let tux: Client;

beforeAll(async () => {
  await loadTemplates();
  tux = await signedIn();
});

it.each([
  ["account", "/account"],
  ["api_version", "/api_version"],
  ["template_sets", "/template_sets"],
  ["template_set", "/template_sets/mono"],
  ["appliance_template", "/appliances/1"],
])("matches the example of %s", async (name, path) => {
  await expectLike(name, await tux.get(path));
});

it("matches the example of api_version on v1", async () => {
  await expectLike("api_version_v1", await tux.on("v1").get("/api_version"));
});

it("matches the examples of appliance and appliances", async () => {
  const tux = await signedIn(); // a new account, so it has no other appliances
  const { applianceId } = await createBuild(tux);
  await expectLike("appliance", await tux.get(`/appliances/${applianceId}`));

  await createAppliance(tux, { name: "Lending desk" });
  await expectLike("appliances", await tux.get("/appliances"));
});

it("returns an icon on v1, and no other extra field", async () => {
  const id = await createAppliance(tux);
  const [onV1, onV2] = await Promise.all(
    ([tux.on("v1"), tux] as const).map(async (client) => (await client.get(`/appliances/${id}`)).text()),
  );
  expect(onV1?.replace(/ *<icon_url>.*<\/icon_url>\n/, "")).toBe(onV2);
  expect(onV1).not.toBe(onV2);
});

it("matches the example of appliance_status", async () => {
  const id = await createSafeAppliance(tux);
  await expectLike("appliance_status_ok", await tux.get(`/appliances/${id}/status`));

  await tux.put(`/appliances/${id}/software`, "<software><package>filesystem</package></software>");
  await breakMirror();
  await expectLike("appliance_status", await tux.get(`/appliances/${id}/status`));
});

/** Sets one repository to the state that a failed refresh leaves. */
async function breakMirror(): Promise<void> {
  const updates = eq(repositories.id, await tinyRepository("updates"));
  await openDatabase(env).update(repositories).set({ problem: "The mirror does not answer." }).where(updates);
}

it("matches the examples of success and error", async () => {
  const id = await createAppliance(tux);
  await expectLike("success", await tux.delete(`/appliances/${id}`));
  await expectLike("error", await tux.get(`/appliances/${id}`), 404);
});
