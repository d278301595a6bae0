import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { protocolVersion } from "#lib/contract/index";
import { inputKey } from "#storage/blobs";
import { findAgentById } from "#storage/agents";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { cancelAllBuilds } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { stopClock } from "../support/clock.ts";
import { bytesOf, capabilities, fakeAgent } from "../support/fake-agent.ts";
import { runningBuild } from "../support/running-build.ts";
import { readXml } from "../support/xml.ts";

const db = openDatabase(env);

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

describe("POST builds/claim", () => {
  it("returns the frozen input and the durations of earlier builds", async () => {
    const { applianceId, agent } = await createBuild(tux);
    const buildId = await startBuild(tux, applianceId);

    const { claim } = await agent.claimsBuild(buildId);

    expect(claim.input).toMatchObject({
      appliance: { id: applianceId, version: "0.0.2", arch: "x86_64" },
      imageType: "oem",
      description: { "config.xml": expect.stringContaining("<image") },
    });
    expect(claim.earlierPhases).toEqual([{ "Preparing the build": 30, "Installing software": 90 }]);
  });

  it("uses durations of other appliances' builds for a first build", async () => {
    const { agent } = await createBuild(tux, bytesOf("image"), {
      steps: [{ phase: "Uploading the image", seconds: 7 }],
    });
    const buildId = await startBuild(tux, await createAppliance(tux));

    const { claim } = await agent.claimsBuild(buildId);

    expect(claim.earlierPhases[0]).toEqual({ "Uploading the image": 7 });
  });

  it("returns the oldest build first", async () => {
    const agent = await fakeAgent();
    await cancelAllBuilds();
    const first = await startBuild(tux, await createAppliance(tux));
    const second = await startBuild(tux, await createAppliance(tux));

    const claimed = [await agent.claims(), await agent.claims(), await agent.claims()];

    expect(claimed.map((attempt) => attempt?.claim.buildId)).toEqual([first, second, undefined]);
  });

  it.each([
    ["image type", { imageTypes: ["iso"] }],
    ["architecture", { arches: ["i586"] }],
    ["type, if the agent supports none", { imageTypes: [] }],
  ])("offers an agent no build of an unsupported %s", async (_what, can) => {
    await startBuild(tux, await createAppliance(tux), { image_type: "oem" });
    const agent = await fakeAgent();

    const json = { capabilities: { ...capabilities, ...can } };
    const answer = await agent.call("POST", "/builds/claim", { json });

    expect(await answer.json()).toEqual({ build: null });
  });

  it("gives a build to only one of two concurrent agents", async () => {
    const agents = [await fakeAgent(), await fakeAgent()];
    await cancelAllBuilds();
    const buildId = await startBuild(tux, await createAppliance(tux));

    const claims = await Promise.all(agents.map((agent) => agent.claims()));

    expect(claims.filter((attempt) => attempt?.claim.buildId === buildId)).toHaveLength(1);
    expect(claims.filter((attempt) => attempt === undefined)).toHaveLength(1);
  });

  it("skips the oldest build if its input cannot be read", async () => {
    const agent = await fakeAgent();
    await cancelAllBuilds();
    const broken = await startBuild(tux, await createAppliance(tux));
    const whole = await startBuild(tux, await createAppliance(tux));
    const input = (await findAnyBuild(db, broken))?.inputSha256 ?? "";
    await env.BLOBS.delete(inputKey(input));
    const complaint = vi.spyOn(console, "error").mockImplementation(() => {});

    expect((await agent.claims())?.claim.buildId).toBe(whole);
    await agent.claims();
    await agent.claims();
    complaint.mockRestore();

    const { running_build: seen } = await readXml(await tux.get(`/running_builds/${broken}`));
    expect(seen).toMatchObject({
      state: "error",
      message: "The service could not read what it stored for this build.",
    });
  });

  it("returns the resolved packages and a description that lists them", async () => {
    const applianceId = await createAppliance(tux);
    await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "hello" });
    const buildId = await startBuild(tux, applianceId, { image_type: "iso" });

    const agent = await fakeAgent();
    const { input } = (await agent.claimsBuild(buildId)).claim;

    const updates = input.repositories.find(({ url }) => url.endsWith("/updates"));
    expect(input.packages.find(({ name }) => name === "hello")).toEqual({
      name: "hello",
      epoch: 0,
      version: "1.1",
      release: "1",
      arch: "noarch",
      repository: updates?.alias,
      location: "hello-1.1.noarch.rpm",
      checksum: { type: "sha256", value: "0".repeat(64) },
      size: 10,
    });
    expect(input.packages.map(({ name }) => name)).toEqual(expect.arrayContaining(["kernel-default", "syslinux"]));
    expect(input.packages.map(({ name }) => name)).not.toContain("hello-docs");
    expect(input.description["config.xml"]).toContain('<package name="hello=1.1-1"');
  });
});

describe("an agent that has found KIWI since its hello", () => {
  it("is known by its next claim to build what it could not", async () => {
    const agent = await fakeAgent();
    await agent.hello({ imageTypes: [], lacking: { oem: "KIWI version" }, builder: "none" });
    await agent.claims();
    expect((await findAgentById(db, agent.id))?.capabilities).toMatchObject(capabilities);
  });
});

describe("POST hello", () => {
  it("ends the leases that this agent still holds, and no others", async () => {
    stopClock(); // so that no lease expires on a slow machine
    const mine = await runningBuild(tux);
    const others = await runningBuild(tux);

    // The fake agent reports no protocol version. It counts as one version behind, and is accepted.
    expect(await mine.agent.hello()).toMatchObject({
      agentId: mine.agent.id,
      endedLeases: 1,
      protocol: protocolVersion,
    });

    expect((await findAnyBuild(db, mine.buildId))?.status).toBe("queued");
    expect((await findAnyBuild(db, others.buildId))?.status).toBe("running");
    expect((await mine.attempt.beats()).status).toBe(410);
  });
});
