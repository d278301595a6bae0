import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { objectOfBuild, seenRunning } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { readXml } from "../support/xml.ts";

const db = openDatabase(env);

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

describe("GET running_builds", () => {
  it("lists the appliance's builds that have not ended", async () => {
    const { applianceId } = await createBuild(tux);
    const running = await startBuild(tux, applianceId);

    const { running_builds: list } = await readXml(await tux.get(`/running_builds?appliance_id=${applianceId}`));

    expect(list["@type"]).toBe("array");
    expect(list.running_build).toMatchObject({ id: String(running), state: "queued" });
  });

  it("is an empty list without running builds, also for a template", async () => {
    const applianceId = await createAppliance(tux);

    for (const id of [applianceId, 1]) {
      const answer = await tux.get(`/running_builds?appliance_id=${id}`);
      expect(await answer.text()).toBe('<running_builds type="array">\n</running_builds>\n');
    }
  });
});

describe("GET running_builds/:id", () => {
  it("still answers after the end, with the finished build's id", async () => {
    const { buildId } = await createBuild(tux);

    expect(await seenRunning(tux, buildId)).toMatchObject({
      id: String(buildId),
      state: "finished",
      percent: "100",
      message: "Finished",
      time_elapsed: expect.stringMatching(/^\d+$/),
    });
  });

  it("explains why a build failed", async () => {
    const buildId = await startBuild(tux, await createAppliance(tux));
    const reason = "Problem: nothing provides libfoo needed by hello-1.0";

    await (await (await fakeAgent()).claimsBuild(buildId)).call("fail", { kind: "failed", reason });

    expect(await seenRunning(tux, buildId)).toMatchObject({ state: "failed", message: reason });
  });
});

describe("DELETE running_builds/:id", () => {
  it("cancels a build, and succeeds a second time", async () => {
    const buildId = await startBuild(tux, await createAppliance(tux));

    for (let time = 0; time < 2; time += 1) {
      const answer = await tux.delete(`/running_builds/${buildId}`);
      expect(await answer.text()).toBe("<success></success>\n");
    }

    expect(await seenRunning(tux, buildId)).toMatchObject({ state: "cancelled", message: "Cancelled" });
    expect(await (await objectOfBuild(buildId)).progress()).toMatchObject({ state: "cancelled" });
  });

  it("leaves a finished build finished", async () => {
    const { buildId } = await createBuild(tux);

    await tux.delete(`/running_builds/${buildId}`);

    expect(await findAnyBuild(db, buildId)).toMatchObject({ status: "finished" });
  });
});
