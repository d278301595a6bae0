import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent, hash, result } from "../support/fake-agent.ts";
import { copyRow, unique } from "../support/many-rows.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

const always = ["id", "version", "state", "expired", "image_type"];
const times = ["created_at", "started_at", "completed_at"];

describe("GET builds", () => {
  it("lists finished builds, newest first, and no running ones", async () => {
    const { applianceId, buildId, agent } = await createBuild(tux);
    const failed = await startBuild(tux, applianceId);
    await (await agent.claimsBuild(failed)).call("fail", { kind: "failed", reason: "Problem: no" });
    const cancelled = await startBuild(tux, applianceId);
    await tux.delete(`/running_builds/${cancelled}`);
    await startBuild(tux, applianceId);

    const { builds } = await readXml(await tux.get(`/builds?appliance_id=${applianceId}`));

    expect(builds["@type"]).toBe("array");
    expect(builds.build.map(({ id, state }: { id: string; state: string }) => [Number(id), state])).toEqual([
      [cancelled, "cancelled"],
      [failed, "failed"],
      [buildId, "finished"],
    ]);
  });

  it("lists 1000 at most, and earlier ones with `before`", async () => {
    const { applianceId, buildId } = await createBuild(tux);
    const failed = { status: "'failed'", uid: unique("uid"), download_token: unique("download_token") };
    await copyRow("builds", { id: buildId, times: 1000, changes: failed });
    const list = async (before = "") => {
      const { builds } = await readXml(await tux.get(`/builds?appliance_id=${applianceId}${before}`));
      return [builds.build].flat().map(({ id }: { id: string }) => Number(id));
    };

    const newest = await list();
    const earlier = await list(`&before=${newest.at(-1)}`);

    expect(newest).toHaveLength(1000);
    expect(newest).toEqual(newest.toSorted((one, other) => other - one));
    expect(newest).not.toContain(buildId);
    expect(earlier).toEqual([buildId]);
    await expectError(await tux.get(`/builds?appliance_id=${applianceId}&before=x`), 400, "invalid_value");
  });

  it("shows checksum and download URL of finished builds only", async () => {
    const image = bytesOf("an image");
    const { applianceId, agent } = await createBuild(tux, image);
    const failed = await startBuild(tux, applianceId);
    await (await agent.claimsBuild(failed)).call("fail", { kind: "failed", reason: "Problem: no" });

    const { builds } = await readXml(await tux.get(`/builds?appliance_id=${applianceId}`));

    const [without, finished] = builds.build;
    expect(Object.keys(without)).toEqual([...always, "size", "compressed_image_size", ...times]);
    expect(Object.keys(finished)).toEqual([
      ...always,
      "checksum",
      "size",
      "compressed_image_size",
      ...times,
      "download_url",
    ]);
    expect(finished).toMatchObject({
      version: "0.0.1",
      expired: "false",
      image_type: "oem",
      checksum: { md5: hash("md5", image), sha1: hash("sha1", image) },
      size: "600",
    });
    expect(finished.download_url).toMatch(
      new RegExp(`^https://kiln.test/download/[A-Za-z0-9_-]{32}/${result.fileName}$`),
    );
  });

  it("has only completed_at on v1", async () => {
    const { applianceId } = await createBuild(tux);

    const { builds } = await readXml(await tux.on("v1").get(`/builds?appliance_id=${applianceId}`));

    expect(Object.keys(builds.build).filter((name) => name.endsWith("_at"))).toEqual(["completed_at"]);
  });
});

describe("GET builds/:id", () => {
  it("shows both logs and the time of each step", async () => {
    const buildId = await startBuild(tux, await createAppliance(tux));
    const attempt = await (await fakeAgent()).claimsBuild(buildId);
    const lines = [
      "[ INFO    ]: 12:00:00 | Kiln: this is attempt 1",
      "[ DEBUG   ]: 12:00:01 | system: (1/2) Installing: a < b & \u001b[1mc",
      "a continuation\r",
    ];
    await attempt.writesLog(0, `${lines.join("\n")}\n`);
    await attempt.uploads(bytesOf("image"));
    await attempt.finishes();

    const { build } = await readXml(await tux.get(`/builds/${buildId}`));

    expect(build.log.build).toBe("[ INFO    ]: 12:00:00 | Kiln: this is attempt 1");
    expect(build.log.kiwi).toBe("[ DEBUG   ]: 12:00:01 | system: (1/2) Installing: a < b & [1mc\na continuation");
    expect(build.profile.steps).toEqual({
      "@type": "array",
      step: [
        { name: "Preparing%20the%20build", time: "30", percent: "25" },
        { name: "Installing%20software", time: "90", percent: "75" },
      ],
    });
  });

  it("shows the last 256 KiB of the log, from a line's start", async () => {
    const buildId = await startBuild(tux, await createAppliance(tux));
    const attempt = await (await fakeAgent()).claimsBuild(buildId);
    const chunk = `${"x".repeat(1023)}\n`.repeat(60);
    for (let offset = 0; offset < 5 * chunk.length; offset += chunk.length) await attempt.writesLog(offset, chunk);
    await attempt.writesLog(5 * chunk.length, "the end\n");
    await attempt.call("fail", { kind: "failed", reason: "Problem: no" });

    const { build } = await readXml(await tux.get(`/builds/${buildId}`));

    expect(build.log.kiwi.length).toBe(255 * 1024 + "the end".length);
    expect(build.log.kiwi.endsWith("x\nthe end")).toBe(true);
  });

  it("has neither log nor profile on v1", async () => {
    const { buildId } = await createBuild(tux);

    const { build } = await readXml(await tux.on("v1").get(`/builds/${buildId}`));

    expect(Object.keys(build)).toEqual([
      ...always,
      "checksum",
      "size",
      "compressed_image_size",
      "completed_at",
      "download_url",
    ]);
  });
});

describe("DELETE builds/:id", () => {
  it("deletes the build with all its blobs and its download", async () => {
    const { applianceId, buildId, uid } = await createBuild(tux);
    const { build } = await readXml(await tux.get(`/builds/${buildId}`));

    const answer = await tux.delete(`/builds/${buildId}`);

    expect(await answer.text()).toBe("<success></success>\n");
    await expectError(await tux.get(`/builds/${buildId}`), 404, "invalid_build_id");
    await expectError(await tux.get(`/running_builds/${buildId}`), 404, "invalid_running_build_id");
    expect((await visit(new URL(build.download_url).pathname)).status).toBe(404);
    expect((await env.BLOBS.list({ prefix: `builds/${uid}/` })).objects).toEqual([]);
    expect(await (await tux.get(`/builds?appliance_id=${applianceId}`)).text()).not.toContain("<id>");
  });

  it("deletes its version too", async () => {
    const { applianceId, buildId } = await createBuild(tux);
    await tux.delete(`/builds/${buildId}`);

    // The configuration is at 0.0.2 by now, and no build has 0.0.1.
    const answer = await tux.post("/running_builds", { appliance_id: applianceId, version: "0.0.1" });

    await expectError(answer, 400, "invalid_version");
  });

  it("refuses a running build, and keeps it", async () => {
    const running = await startBuild(tux, await createAppliance(tux));

    await expectError(await tux.delete(`/builds/${running}`), 404, "invalid_build_id");
    expect(await findAnyBuild(openDatabase(env), running)).toMatchObject({ status: "queued" });
  });
});
