import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { requestBuild, listedBuilds, seenRunning } from "../support/builds.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent } from "../support/fake-agent.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

describe("a forced build", () => {
  it("cancels the running build", async () => {
    const applianceId = await createAppliance(tux);
    const first = await startBuild(tux, applianceId);

    const second = await startBuild(tux, applianceId, { force: "1" });

    expect((await seenRunning(tux, first)).state).toBe("cancelled");
    expect((await seenRunning(tux, second)).state).toBe("queued");
  });

  it("keeps the old image until the new one exists", async () => {
    const { applianceId, buildId: old, agent } = await createBuild(tux, bytesOf("old"));
    const forced = await startBuild(tux, applianceId, { version: "0.0.1", force: "true" });
    expect(await listedBuilds(tux, applianceId)).toMatchObject([{ id: String(old), state: "finished" }]);

    await agent.buildsSuccessfully(forced, bytesOf("new"));

    const [build, ...others] = await listedBuilds(tux, applianceId);
    expect(others).toEqual([]);
    expect(build).toMatchObject({ id: String(forced), version: "0.0.1" });
    await expectError(await tux.get(`/builds/${old}`), 404, "invalid_build_id");
    expect(await (await visit(new URL(build.download_url).pathname)).bytes()).toEqual(bytesOf("new"));
  });

  it("keeps the old image if the new build fails", async () => {
    const { applianceId, buildId: old, agent } = await createBuild(tux);
    const forced = await startBuild(tux, applianceId, { version: "0.0.1", force: "true" });

    await (await agent.claimsBuild(forced)).call("fail", { kind: "failed", reason: "Problem: no" });

    expect((await listedBuilds(tux, applianceId)).map(({ id, state }) => [Number(id), state])).toEqual([
      [forced, "failed"],
      [old, "finished"],
    ]);
  });
});

const versionOf = (applianceId: number) =>
  env.DB.prepare("SELECT version FROM appliances WHERE id = ?").bind(applianceId).first("version");

describe("the configuration's version", () => {
  it("is raised by one release after it has been built", async () => {
    const { applianceId } = await createBuild(tux);

    expect(await versionOf(applianceId)).toBe("0.0.2");
    expect((await readXml(await requestBuild(tux, applianceId))).build.version).toBe("0.0.2");
  });

  it("is not raised after a build of another version", async () => {
    const { applianceId, agent } = await createBuild(tux);
    const iso = await startBuild(tux, applianceId, { image_type: "iso", multi: "1" });

    await agent.buildsSuccessfully(iso);

    expect(await versionOf(applianceId)).toBe("0.0.2");
  });

  it("is not raised after a failed build", async () => {
    const applianceId = await createAppliance(tux);
    const buildId = await startBuild(tux, applianceId);

    await (await (await fakeAgent()).claimsBuild(buildId)).call("fail", { kind: "failed", reason: "Problem: no" });

    expect(await versionOf(applianceId)).toBe("0.0.1");
  });
});
