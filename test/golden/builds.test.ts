import { beforeAll, it } from "vitest";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent } from "../support/fake-agent.ts";
import { bootableBuild } from "../support/testdrives.ts";
import { agentClaims } from "../api/every-call/agent.ts";
import { expectLike } from "./fixtures.ts";

let tux: Client;
let built: Awaited<ReturnType<typeof createBuild>>;

beforeAll(async () => {
  tux = await signedIn();
  built = await createBuild(tux, bytesOf("an image".repeat(100_000)));
});

it("matches the example of running_build", async () => {
  const appliance_id = await createAppliance(tux);
  await expectLike("running_build_created", await tux.post("/running_builds", { appliance_id }));
});

it("matches the examples of running_build and running_builds", async () => {
  const applianceId = await createAppliance(tux);
  const id = await startBuild(tux, applianceId);
  const attempt = await (await fakeAgent()).claimsBuild(id);
  await attempt.beats();

  await expectLike("running_build", await tux.get(`/running_builds/${id}`));
  await expectLike("running_builds", await tux.get(`/running_builds?appliance_id=${applianceId}`));
  await attempt.call("fail", { kind: "failed", reason: "Problem: no" });
});

it("matches the example of running_build_finished", async () => {
  await expectLike("running_build_finished", await tux.get(`/running_builds/${built.buildId}`));
});

it("matches the examples of build and builds", async () => {
  await expectLike("build", await tux.get(`/builds/${built.buildId}`));
  await expectLike("builds", await tux.get(`/builds?appliance_id=${built.applianceId}`));
  await expectLike("builds_v1", await tux.on("v1").get(`/builds?appliance_id=${built.applianceId}`));
});

it("matches the example of error_image_already_exists", async () => {
  const again = { appliance_id: built.applianceId, version: "0.0.1" };
  await expectLike("error_image_already_exists", await tux.post("/running_builds", again), 400);
});

it("matches the examples of testdrive and testdrives", async () => {
  const { id } = await bootableBuild(tux);
  const [answer] = await Promise.all([
    tux.post("/testdrives", { build_id: id }),
    agentClaims({ host: "192.0.2.7", port: 5901 }),
  ]);

  await expectLike("testdrive", answer);
  await expectLike("testdrives", await tux.get("/testdrives"));
});
