import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { artifactNames, partBytes } from "#contract/index";
import { buildObject } from "#domain/builds/build";
import { inputKey, installedKey } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { bytesOf, capabilities, fakeAgent, result, sha256 } from "../support/fake-agent.ts";
import { readXml } from "../support/xml.ts";

const db = openDatabase(env.DB);

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

async function running() {
  const buildId = await startBuild(tux, await createAppliance(tux));
  const agent = await fakeAgent();
  return { buildId, agent, attempt: await agent.claimsBuild(buildId) };
}

const codeOf = async (answer: Response) => {
  const { error } = await answer.json<{ error: { code: string } }>();
  return [answer.status, error.code];
};

describe("the agent door", () => {
  it.each([
    ["no token", undefined],
    ["another token", "Bearer nonsense"],
    ["an API key", `Basic ${btoa("tux:key")}`],
  ])("refuses %s as JSON", async (_what, authorization) => {
    const answer = await visit("/agent/builds/claim", {
      method: "POST",
      headers: authorization ? { authorization } : {},
    });

    expect(await codeOf(answer)).toEqual([401, "unauthorized"]);
  });

  it.each([
    ["no JSON", "{"],
    ["what the contract does not say", JSON.stringify({ capabilities: { arches: ["arm"] } })],
  ])("refuses %s", async (_what, body) => {
    const agent = await fakeAgent();

    expect(await codeOf(await agent.call("POST", "/builds/claim", { body }))).toEqual([400, "invalid"]);
  });

  it("refuses a call about a build without an attempt token", async () => {
    const { buildId, agent } = await running();

    expect(await codeOf(await agent.call("POST", `/builds/${buildId}/release`))).toEqual([400, "invalid"]);
  });

  it("calls an attempt late when there is no such build", async () => {
    const { agent } = await running();

    const headers = { "x-kiln-attempt": "token" };
    const answer = await agent.call("POST", "/builds/999999/release", { headers });

    expect(await codeOf(answer)).toEqual([410, "late"]);
  });
});

describe("a build", () => {
  it("goes from claim over heartbeat, log, upload and finish to a download", async () => {
    const { buildId, attempt } = await running();
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
    const installed = await env.BLOBS.get(installedKey(buildId));
    expect(await installed?.json()).toEqual(result.installed);
  });
});

describe("POST builds/claim", () => {
  it("hands out the frozen input and the times of earlier builds", async () => {
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

  it("hands out the times of others in the same type for an appliance that was never built", async () => {
    const { agent } = await createBuild(tux, bytesOf("image"), {
      steps: [{ phase: "Uploading the image", seconds: 7 }],
    });
    const buildId = await startBuild(tux, await createAppliance(tux));

    const { claim } = await agent.claimsBuild(buildId);

    expect(claim.earlierPhases[0]).toEqual({ "Uploading the image": 7 });
  });

  it("hands out the oldest build first", async () => {
    const agent = await fakeAgent();
    while (await agent.claims());
    const first = await startBuild(tux, await createAppliance(tux));
    const second = await startBuild(tux, await createAppliance(tux));

    const claimed = [await agent.claims(), await agent.claims(), await agent.claims()];

    expect(claimed.map((attempt) => attempt?.claim.buildId)).toEqual([first, second, undefined]);
  });

  it.each([
    ["type", { imageTypes: ["iso"] }],
    ["architecture", { arches: ["i586"] }],
    ["type at all", { imageTypes: [] }],
  ])("keeps from an agent what it cannot do: %s", async (_what, can) => {
    await startBuild(tux, await createAppliance(tux), { image_type: "oem" });
    const agent = await fakeAgent();

    const json = { capabilities: { ...capabilities, ...can } };
    const answer = await agent.call("POST", "/builds/claim", { json });

    expect(await answer.json()).toEqual({ build: null });
  });

  it("gives one build to one of two agents that ask at once", async () => {
    const agents = [await fakeAgent(), await fakeAgent()];
    for (const agent of agents) while (await agent.claims());
    const buildId = await startBuild(tux, await createAppliance(tux));

    const claims = await Promise.all(agents.map((agent) => agent.claims()));

    expect(claims.filter((attempt) => attempt?.claim.buildId === buildId)).toHaveLength(1);
    expect(claims.filter((attempt) => attempt === undefined)).toHaveLength(1);
  });

  it("goes on with the next build when the input of the oldest cannot be read", async () => {
    const agent = await fakeAgent();
    while (await agent.claims());
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
    expect(seen).toMatchObject({ state: "error", message: "The service could not read what to build." });
  });
});

describe("POST hello", () => {
  it("ends the leases that the agent still holds, and only its own", async () => {
    const mine = await running();
    const others = await running();

    expect(await mine.agent.hello()).toMatchObject({ agentId: mine.agent.id, endedLeases: 1 });

    expect((await findAnyBuild(db, mine.buildId))?.status).toBe("queued");
    expect((await findAnyBuild(db, others.buildId))?.status).toBe("running");
    expect((await mine.attempt.beats()).status).toBe(410);
  });
});

describe("the end of an attempt", () => {
  it("is answered the same when it is said twice", async () => {
    const { buildId, attempt } = await running();
    await attempt.uploads(bytesOf("image"));

    const answers = [await attempt.finishes(), await attempt.finishes()];

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await findAnyBuild(db, buildId))?.status).toBe("finished");
  });

  it("tells the owner in what the image differs from the frozen packages", async () => {
    const buildId = await startBuild(tux, await createAppliance(tux));
    const remark = "The image differs from what was resolved: 1 missing (hello-1.1-1.noarch).";

    await (await fakeAgent()).buildsSuccessfully(buildId, undefined, { remark });

    const { running_build: build } = await readXml(await tux.get(`/running_builds/${buildId}`));
    expect(build).toMatchObject({ state: "finished", message: `Finished. ${remark}` });
  });

  it("hands out the packages that the software resolved to, and a description that asks for these", async () => {
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

  it.each(artifactNames)("is no finish while the upload of %s is not complete", async (missing) => {
    const { buildId, attempt } = await running();
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

  it("fails at once when KIWI said no, also when it is said twice", async () => {
    const { buildId, attempt } = await running();
    const failure = { kind: "failed", reason: "Problem: nothing provides libfoo needed by hello" };

    const answers = [await attempt.call("fail", failure), await attempt.call("fail", failure)];

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await findAnyBuild(db, buildId)).toMatchObject({ status: "failed", message: failure.reason });
  });

  it("gives the build back at once when the agent stops", async () => {
    const { buildId, agent, attempt } = await running();

    await attempt.call("release");

    expect((await agent.claimsBuild(buildId)).claim.attempt).toBe(2);
  });
});

describe("cancelling", () => {
  it("reaches the agent on its socket and with its next heartbeat", async () => {
    const { buildId, agent, attempt } = await running();
    const { webSocket } = await agent.call("GET", "/socket", { headers: { upgrade: "websocket" } });
    const heard: unknown[] = [];
    webSocket?.addEventListener("message", ({ data }) => void heard.push(JSON.parse(String(data))));
    webSocket?.accept();

    await tux.delete(`/running_builds/${buildId}`);

    await vi.waitFor(() => expect(heard).toContainEqual({ type: "cancel", buildId }));
    expect(await (await attempt.beats()).json()).toEqual({ cancel: true });
    expect((await attempt.writesLog(0, "more")).status).toBe(410);
    expect((await attempt.finishes()).status).toBe(410);
    webSocket?.close();
  });

  it("pokes every agent's socket when a build starts", async () => {
    const agent = await fakeAgent();
    const { webSocket } = await agent.call("GET", "/socket", { headers: { upgrade: "websocket" } });
    const heard: unknown[] = [];
    webSocket?.addEventListener("message", ({ data }) => void heard.push(data));
    webSocket?.accept();
    webSocket?.send("ping");

    await startBuild(tux, await createAppliance(tux));

    await vi.waitFor(() => expect(heard).toEqual(expect.arrayContaining(["pong", '{"type":"poke"}'])));
    webSocket?.close();
  });

  it("refuses the socket's address to who does not speak WebSocket", async () => {
    const agent = await fakeAgent();

    expect(await codeOf(await agent.call("GET", "/socket"))).toEqual([400, "invalid"]);
  });
});

describe("an upload", () => {
  const first = new Uint8Array(partBytes).fill(1);
  const last = bytesOf("the last part");
  const image = last;

  it("is resumed behind the parts that are recorded", async () => {
    const whole = new Uint8Array(partBytes + last.byteLength);
    whole.set(first);
    whole.set(last, partBytes);
    const { buildId, attempt } = await running();
    await attempt.opensUpload(whole.byteLength);
    expect((await attempt.sendsPart(1, first)).status).toBe(200);

    const state = await attempt.opensUpload(whole.byteLength);

    expect(state).toEqual({
      partBytes,
      complete: false,
      parts: [{ number: 1, sha256: sha256(first), size: partBytes }],
    });
    expect((await attempt.sendsPart(1, first)).status).toBe(200);
    expect((await attempt.sendsPart(2, last)).status).toBe(200);
    expect((await attempt.completesUpload(whole)).status).toBe(200);
    expect((await attempt.completesUpload(whole)).status).toBe(200);
    expect((await attempt.opensUpload(whole.byteLength)).complete).toBe(true);
    const stored = await env.BLOBS.get(`builds/${buildId}/image-1`);
    expect(sha256((await stored?.bytes()) ?? bytesOf(""))).toBe(sha256(whole));
  });

  it("does not record a part whose digest is another one than announced", async () => {
    const { attempt } = await running();
    await attempt.opensUpload(image.byteLength);

    const answer = await attempt.sendsPart(1, image, { announced: sha256(bytesOf("something else")) });

    expect(await codeOf(answer)).toEqual([400, "wrong_digest"]);
    expect((await attempt.opensUpload(image.byteLength)).parts).toEqual([]);
  });

  it("forgets a part that is sent again with other bytes", async () => {
    const { attempt } = await running();
    await attempt.opensUpload(image.byteLength);
    await attempt.sendsPart(1, image);
    const other = image.toReversed();

    await attempt.sendsPart(1, other, { announced: sha256(bytesOf("a lie")) });
    expect((await attempt.opensUpload(image.byteLength)).parts).toEqual([]);
    await attempt.sendsPart(1, other);

    expect((await attempt.opensUpload(image.byteLength)).parts).toMatchObject([{ sha256: sha256(other) }]);
  });

  it.each([
    ["the first of two is not 32 MiB", partBytes + 5, 1, 5],
    ["the last has not the rest", 20, 1, 5],
    ["the number is behind the end", 5, 2, 5],
  ])("refuses a part when %s", async (_what, size, number, partSize) => {
    const { attempt } = await running();
    await attempt.opensUpload(size);

    const answer = await attempt.sendsPart(number, new Uint8Array(partSize));

    expect(await codeOf(answer)).toEqual([400, "wrong_part"]);
  });

  it("takes no part before it is opened", async () => {
    const { attempt } = await running();

    expect(await codeOf(await attempt.sendsPart(1, image))).toEqual([409, "no_upload"]);
  });

  it("is not complete while parts are missing or when they are not those that the agent means", async () => {
    const { attempt } = await running();
    await attempt.opensUpload(image.byteLength);
    expect(await codeOf(await attempt.completesUpload(image))).toEqual([409, "incomplete"]);
    await attempt.sendsPart(1, image);

    expect(await codeOf(await attempt.completesUpload(image.toReversed()))).toEqual([400, "wrong_digest"]);
    expect((await attempt.completesUpload(image)).status).toBe(200);
  });

  it("is found complete when the answer of R2 was lost", async () => {
    const { attempt } = await running();
    await attempt.opensUpload(image.byteLength);
    await attempt.sendsPart(1, image);
    await attempt.completesUpload(image);
    await runInDurableObject(buildObject(env, attempt.claim.buildId), (_build, { storage }) => {
      storage.sql.exec("UPDATE artifacts SET stored = NULL");
    });

    expect((await attempt.completesUpload(image)).status).toBe(200);
    expect((await attempt.opensUpload(image.byteLength)).complete).toBe(true);
  });

  it("knows no artifact of another name", async () => {
    const { attempt } = await running();

    expect(await codeOf(await attempt.call("artifacts/shadow", { size: 1, fileName: "x" }))).toEqual([400, "invalid"]);
  });
});

describe("GET builds/:id/image", () => {
  it("reads the image of any finished build, from any byte on", async () => {
    const { buildId } = await createBuild(tux, bytesOf("0123456789"));
    const other = await fakeAgent();

    const answer = await other.call("GET", `/builds/${buildId}/image`, { headers: { range: "bytes=4-" } });

    expect(answer.status).toBe(206);
    expect(await answer.bytes()).toEqual(bytesOf("456789"));
  });

  it("says when there is none", async () => {
    const { buildId, agent } = await running();

    expect(await codeOf(await agent.call("GET", `/builds/${buildId}/image`))).toEqual([404, "no_image"]);
  });
});

describe("PUT builds/:id/log", () => {
  it("refuses more than 64 KiB at once", async () => {
    const { attempt } = await running();

    expect(await codeOf(await attempt.writesLog(0, new Uint8Array(64 * 1024 + 1)))).toEqual([413, "too_large"]);
  });
});
