import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { BuildClaimAnswer } from "#lib/contract/index";
import { longQueueMs } from "#domain/builds/why-waiting";
import { objectOfBuild } from "../support/builds.ts";
import { signedIn } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { capabilities, fakeAgent } from "../support/fake-agent.ts";
import { readXml } from "../support/xml.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("gives an agent without disk space no build, and explains why", async () => {
  const tux = await signedIn();
  await env.DB.prepare("UPDATE agents SET capabilities = NULL").run();
  const agent = await fakeAgent();
  const buildId = await startBuild(tux, await createAppliance(tux));
  const waiting = async () => (await readXml(await tux.get(`/running_builds/${buildId}`))).running_build;

  const claimWith = async (hasRoom: boolean) => {
    const answer = await agent.call("POST", "/builds/claim", { json: { capabilities: { ...capabilities, hasRoom } } });
    return BuildClaimAnswer.parse(await answer.json()).build;
  };

  expect(await claimWith(false)).toBeNull();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + longQueueMs });
  await claimWith(false);
  await runDurableObjectAlarm(await objectOfBuild(buildId));

  const message = "Waiting: no builder has room on its disk";
  expect(await waiting()).toMatchObject({ state: "queued", message });
  expect(await claimWith(true)).toMatchObject({ buildId });
});
