import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { artifactNames } from "#lib/contract/index";
import { installedKey } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { objectOfBuild } from "../support/builds.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, capabilities, fakeAgent, result } from "../support/fake-agent.ts";
import { codeOf, runningBuild } from "../support/running-build.ts";
import { readXml } from "../support/xml.ts";

const db = openDatabase(env);

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

/** A result that lists `count` packages. */
const listing = (count: number) => ({ ...result, installed: Array.from({ length: count }, () => result.installed[0]) });

describe("the agent API", () => {
  it.each([
    ["no token", undefined],
    ["an unknown token", "Bearer nonsense"],
    ["an API key", `Basic ${btoa("tux:key")}`],
  ])("refuses %s as JSON", async (_what, authorization) => {
    const answer = await visit("/agent/builds/claim", {
      method: "POST",
      headers: authorization ? { authorization } : {},
    });

    expect(await codeOf(answer)).toEqual([401, "unauthorized"]);
  });

  it("refuses a message above the size limit of its kind", async () => {
    const agent = await fakeAgent();
    const body = JSON.stringify({ capabilities }) + " ".repeat(64 * 1024);

    expect(await codeOf(await agent.call("POST", "/builds/claim", { body }))).toEqual([413, "too_large"]);
  });

  it("accepts long package lists up to a limit", async () => {
    const { attempt } = await runningBuild(tux);

    expect(await codeOf(await attempt.call("finish", listing(20_000)))).toEqual([409, "incomplete"]);
    expect(await codeOf(await attempt.call("finish", listing(300_000)))).toEqual([413, "too_large"]);
  });

  it.each([
    ["invalid JSON", "{"],
    ["a value outside the contract", JSON.stringify({ capabilities: { arches: ["arm"] } })],
  ])("refuses %s", async (_what, body) => {
    const agent = await fakeAgent();

    expect(await codeOf(await agent.call("POST", "/builds/claim", { body }))).toEqual([400, "invalid"]);
  });

  it("requires an attempt token in calls about a build", async () => {
    const { buildId, agent } = await runningBuild(tux);

    expect(await codeOf(await agent.call("POST", `/builds/${buildId}/release`))).toEqual([400, "invalid"]);
  });

  it("answers late for an attempt at an unknown build", async () => {
    const { agent } = await runningBuild(tux);

    const headers = { "x-kiln-attempt": "token" };
    const answer = await agent.call("POST", "/builds/999999/release", { headers });

    expect(await codeOf(answer)).toEqual([410, "late"]);
  });
});

describe("a build", () => {
  it("runs from claim through heartbeat, log and upload to a download", async () => {
    const { buildId, attempt } = await runningBuild(tux);
    const image = bytesOf("a bootable image");

    expect(await (await attempt.beats()).json()).toEqual({ cancel: false });
    const { running_build: seen } = await readXml(await tux.get(`/running_builds/${buildId}`));
    expect(seen).toMatchObject({ state: "running", percent: "40", message: expect.stringContaining("busybox") });
    expect(await (await attempt.writesLog(0, "hello\n")).json()).toEqual({ nextOffset: 6 });
    await attempt.uploads(image);
    expect((await attempt.finishes()).status).toBe(200);

    const { build } = await readXml(await tux.get(`/builds/${buildId}`));
    expect(build).toMatchObject({ state: "finished", version: "0.0.1" });
    const download = await visit(new URL(build.download_url).pathname);
    expect(await download.bytes()).toEqual(image);
    const installed = await env.BLOBS.get(installedKey(attempt.uid));
    expect(await installed?.json()).toEqual(result.installed);
  });
});

describe("the end of an attempt", () => {
  it("reports whether the log is read, so that the agent sends it rarely otherwise", async () => {
    const { attempt, buildId } = await runningBuild(tux);
    const object = await objectOfBuild(buildId);

    expect(await (await attempt.writesLog(0, "another\n")).json()).toEqual({ nextOffset: 8 });
    await object.readLog({ from: 0, maxBytes: 100 });
    expect(await (await attempt.writesLog(8, "x\n")).json()).toEqual({ nextOffset: 10, watched: true });
  });

  it("gives the same answer when it is reported twice", async () => {
    const { buildId, attempt } = await runningBuild(tux);
    await attempt.uploads(bytesOf("image"));

    const answers = [await attempt.finishes(), await attempt.finishes()];

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await findAnyBuild(db, buildId))?.status).toBe("finished");
  });

  it("shows the owner how the image differs from the frozen packages", async () => {
    const buildId = await startBuild(tux, await createAppliance(tux));
    const remark = "The image differs from what was resolved: 1 missing (hello-1.1-1.noarch).";

    await (await fakeAgent()).buildsSuccessfully(buildId, undefined, { remark });

    const { running_build: build } = await readXml(await tux.get(`/running_builds/${buildId}`));
    expect(build).toMatchObject({ state: "finished", message: `Finished. ${remark}` });
  });

  it.each(artifactNames)("refuses to finish while the upload of %s is incomplete", async (missing) => {
    const { buildId, attempt } = await runningBuild(tux);
    const others = artifactNames.filter((name) => name !== missing);
    for (const name of others) await attempt.uploadsArtifact(name, bytesOf(`the bytes of ${name}`));
    await attempt.opensUpload(5, missing);

    expect(await codeOf(await attempt.finishes())).toEqual([409, "incomplete"]);
    expect((await findAnyBuild(db, buildId))?.status).toBe("running");

    await attempt.uploadsArtifact(missing, bytesOf("later"));
    expect((await attempt.finishes()).status).toBe(200);
    const sizes = await findAnyBuild(db, buildId);
    expect([sizes?.fileSize, sizes?.filesSize, sizes?.filesIndexSize]).toContain(5);
  });

  it("fails immediately when KIWI reports an error, also when reported twice", async () => {
    const { buildId, attempt } = await runningBuild(tux);
    const failure = { kind: "failed", reason: "Problem: nothing provides libfoo needed by hello" };

    const answers = [await attempt.call("fail", failure), await attempt.call("fail", failure)];

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await findAnyBuild(db, buildId)).toMatchObject({ status: "failed", message: failure.reason });
  });

  it("requeues the build immediately when the agent stops", async () => {
    const { buildId, agent, attempt } = await runningBuild(tux);

    await attempt.call("release");

    expect((await agent.claimsBuild(buildId)).claim.attempt).toBe(2);
  });
});

describe("PUT builds/:id/log", () => {
  it("refuses more than 64 KiB in one request", async () => {
    const { attempt } = await runningBuild(tux);

    expect(await codeOf(await attempt.writesLog(0, new Uint8Array(64 * 1024 + 1)))).toEqual([413, "too_large"]);
  });
});
