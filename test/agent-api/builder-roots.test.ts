import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { removeBaseSystemFact, setBaseSystemFact } from "../support/base-system-facts.ts";
import { BuildClaimAnswer, type RootAbilities } from "#lib/contract/index";
import { longQueueMs, whyWaiting } from "#domain/builds/why-waiting";
import { objectOfBuild } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createSafeAppliance, startBuild } from "../support/factories.ts";
import { capabilities, fakeAgent, type FakeAgent } from "../support/fake-agent.ts";
import { readXml } from "../support/xml.ts";

const root: RootAbilities = {
  name: "debian-13",
  sha256: "d".repeat(64),
  builder: "9.24.56",
  imageTypes: ["oem"],
  packageTypes: ["rpm", "deb"],
};

let tux: Client;
let agent: FakeAgent;
let applianceId: number;
beforeEach(async () => {
  tux = await signedIn();
  applianceId = await createSafeAppliance(tux); // brings the base system
  await env.DB.prepare("UPDATE agents SET capabilities = NULL").run();
  await setBaseSystemFact("builderRoot", "debian-13");
  agent = await fakeAgent();
});
afterEach(async () => {
  vi.useRealTimers();
  await removeBaseSystemFact("builderRoot");
});

const claimWith = async (roots: RootAbilities[]) => {
  const answer = await agent.call("POST", "/builds/claim", { json: { capabilities: { ...capabilities, roots } } });
  return BuildClaimAnswer.parse(await answer.json()).build;
};

const sentence = "This system is built in the builder root debian-13, which no builder of this service has.";

it("refuses a build whose builder root no agent has, until a claim brings it", async () => {
  expect(await claimWith([])).toBeNull();
  const status = async () => (await readXml(await tux.get(`/appliances/${applianceId}/status`))).status;
  expect(await status()).toMatchObject({ state: "error", issues: { issue: { text: sentence } } });

  expect(await claimWith([root])).toBeNull();
  expect(await status()).toMatchObject({ state: "ok" });
  const buildId = await startBuild(tux, applianceId);
  expect(await claimWith([]), "an agent without the root").toBeNull();
  expect(await claimWith([{ ...root, imageTypes: ["iso"] }]), "a root that cannot make this type").toBeNull();
  const claim = await claimWith([root]);
  expect(claim).toMatchObject({ buildId: Number(buildId), input: { builderRoot: "debian-13" } });
});

it("reports that a build waits for an agent with the builder root", async () => {
  await claimWith([root]);
  const buildId = await startBuild(tux, applianceId);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + longQueueMs });
  await claimWith([]);
  await runDurableObjectAlarm(await objectOfBuild(buildId));

  const { running_build: build } = await readXml(await tux.get(`/running_builds/${buildId}`));
  expect(build).toMatchObject({ state: "queued", message: whyWaiting.rootless });
});
