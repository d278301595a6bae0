import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import { expectQueued, requestBuild, listedBuilds, seenRunning } from "../support/builds.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

/** Fails with the answer's own reason. */
const idOf = async (answer: Response): Promise<number> => {
  const document = await readXml(answer);
  expect(document).toHaveProperty("build.id");
  return Number(document.build.id);
};

describe("POST running_builds", () => {
  it("starts a build of the configuration's version and type", async () => {
    const applianceId = await createAppliance(tux);

    const answer = await requestBuild(tux, applianceId);

    const { build } = await readXml(answer);
    expect(answer.status).toBe(200);
    expect(Object.keys(build)).toEqual(["id", "state", "percent", "time_elapsed", "message", "version", "image_type"]);
    expect(build).toMatchObject({
      state: "queued",
      percent: "0",
      time_elapsed: "0",
      version: "0.0.1",
      image_type: "oem",
    });
  });

  it("accepts parameters in a form body, and ignores empty ones", async () => {
    const applianceId = await createAppliance(tux);
    const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;

    const answer = await visit("/api/v1/user/running_builds/", {
      method: "POST",
      headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
      body: `appliance_id=${applianceId}&force=true&version=&image_type=`,
    });

    await expectQueued(await idOf(answer), applianceId);
  });

  it.each([
    ["no appliance", {}, 400, "missing_appliance_id"],
    ["appliance 0", { appliance_id: "0" }, 400, "invalid_appliance_id"],
    ["an invalid id", { appliance_id: "<built-in function id>" }, 400, "invalid_appliance_id"],
    ["an unknown appliance", { appliance_id: "999999" }, 400, "invalid_appliance_id"],
  ])("refuses %s", async (_what, params, status, code) => {
    await expectError(await tux.post("/running_builds", params), status, code);
  });

  it.each([
    ["a version it never had", { version: "7.7.7" }, "invalid_version"],
    ["an unknown type", { image_type: "floppy" }, "invalid_image_type"],
    ["an invalid value for force", { force: "perhaps" }, "invalid_value"],
  ])("refuses %s", async (_what, params, code) => {
    const applianceId = await createAppliance(tux);

    await expectError(await requestBuild(tux, applianceId, params), 400, code);

    expect(await listedBuilds(tux, applianceId)).toEqual([]);
  });

  it("does not accept v2's image types on v1", async () => {
    const applianceId = await createAppliance(tux);

    const answer = await tux.on("v1").post("/running_builds", { appliance_id: applianceId, image_type: "oemiso" });

    expect(await expectError(answer, 400, "invalid_image_type")).toMatch(/^Pick one of xen, oem, vmx, iso, qcow2/);
  });

  it.each(["v1", "v2"] as const)("accepts image types that the specification lacks on %s", async (version) => {
    await (await fakeAgent()).hello({ imageTypes: ["oem", "qcow2"] });
    const applianceId = await createAppliance(tux);

    const answer = await tux.on(version).post("/running_builds", { appliance_id: applianceId, image_type: "qcow2" });

    expect((await readXml(answer)).build.image_type).toBe("qcow2");
  });

  it("refuses unsupported types immediately, with the missing program", async () => {
    const agent = await fakeAgent();
    await agent.hello({ arches: ["x86_64", "i586"], imageTypes: ["oem", "iso"], lacking: { ec2: "sfdisk" } });
    const applianceId = await createAppliance(tux);

    const message = await expectError(
      await requestBuild(tux, applianceId, { image_type: "ec2" }),
      400,
      "configuration_error",
    );

    expect(message).toMatch(/no builder .* ec2 images for x86_64\. They lack: sfdisk\./i);
    expect(await listedBuilds(tux, applianceId)).toEqual([]);
  });

  it("refuses an appliance whose status is not ok, with the reason", async () => {
    await (await fakeAgent()).hello({ arches: ["i586"] });
    const applianceId = await createAppliance(tux, { arch: "i686" });
    const { status } = await readXml(await tux.get(`/appliances/${applianceId}/status`));

    const message = await expectError(await requestBuild(tux, applianceId), 400, "configuration_error");

    expect([status.issues.issue].flat()[0].text).toBe(message);
  });

  it("leaves one of two simultaneous forced builds running", async () => {
    const applianceId = await createAppliance(tux);

    await Promise.all([requestBuild(tux, applianceId, { force: "1" }), requestBuild(tux, applianceId, { force: "1" })]);

    const { running_builds: running } = await readXml(await tux.get(`/running_builds?appliance_id=${applianceId}`));
    expect([running.running_build].flat()).toHaveLength(1);
  });

  it("accepts one of two simultaneous starts", async () => {
    const applianceId = await createAppliance(tux);

    const answers = await Promise.all([requestBuild(tux, applianceId), requestBuild(tux, applianceId)]);

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    const refused = answers.find(({ status }) => status === 400);
    await expectError(refused ?? new Response(), 400, "image_already_exists");
  });

  it("refuses a version that is already built, unless forced", async () => {
    const { applianceId } = await createBuild(tux);

    const message = await expectError(
      await requestBuild(tux, applianceId, { version: "0.0.1" }),
      400,
      "image_already_exists",
    );

    expect(message).toContain("Version 0.0.1 is already built as oem");
    const again = await requestBuild(tux, applianceId, { version: "0.0.1", force: "true" });
    await expectQueued(await idOf(again), applianceId);
  });

  it("refuses another type before the version's first build has finished", async () => {
    const applianceId = await createAppliance(tux);
    await startBuild(tux, applianceId);

    await expectError(await requestBuild(tux, applianceId, { image_type: "iso" }), 400, "initial_build_pending");
    await expectError(
      await requestBuild(tux, applianceId, { image_type: "iso", multi: "true" }),
      400,
      "initial_build_pending",
    );
  });

  it("builds another type of the last built version with multi=true", async () => {
    const { applianceId } = await createBuild(tux);

    const { build } = await readXml(await requestBuild(tux, applianceId, { image_type: "iso", multi: "true" }));

    expect(build).toMatchObject({ version: "0.0.1", image_type: "iso" });
  });

  it("refuses more builds than an account has slots", async () => {
    for (let slot = 0; slot < 4; slot += 1) await startBuild(tux, await createAppliance(tux));
    const fifth = await createAppliance(tux);

    await expectError(await requestBuild(tux, fifth), 400, "no_build_slots");

    const [first] = await env.DB.prepare("SELECT id FROM builds WHERE account_id = ? LIMIT 1")
      .bind(tux.accountId)
      .all<{ id: number }>()
      .then(({ results }) => results);
    await tux.delete(`/running_builds/${first?.id}`);
    await expectQueued(await idOf(await requestBuild(tux, fifth)), fifth);
  });

  it("refuses more builds than the service has slots", async () => {
    const applianceId = await createAppliance(tux);
    const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;

    const answer = await app.request(
      `/api/v2/user/running_builds?appliance_id=${applianceId}`,
      { method: "POST", headers: { authorization } },
      { ...env, MAX_BUILDS: "0" },
    );

    await expectError(answer, 400, "no_build_slots");
  });

  it("freezes nothing for a build that gets no slot", async () => {
    for (let slot = 0; slot < 4; slot += 1) await startBuild(tux, await createAppliance(tux));
    const fifth = await createAppliance(tux);
    const put = vi.spyOn(env.BLOBS, "put");

    await expectError(await requestBuild(tux, fifth), 400, "no_build_slots");

    expect(put).not.toHaveBeenCalled();
  });

  it("replaces a build with force=true when all slots are taken", async () => {
    const first = await createAppliance(tux);
    await startBuild(tux, first);
    for (let slot = 1; slot < 4; slot += 1) await startBuild(tux, await createAppliance(tux));

    await expectQueued(await idOf(await requestBuild(tux, first, { force: "true" })), first);
  });

  it("starts even if its object cannot be told", async () => {
    const applianceId = await createAppliance(tux);
    const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
    vi.spyOn(env.BUILDS, "getByName").mockReturnValue({ wake: () => Promise.reject(new Error("gone")) } as never);

    const answer = await requestBuild(tux, applianceId).finally(() => vi.restoreAllMocks());

    expect(complaint).toHaveBeenCalled();
    expect(await seenRunning(tux, await idOf(answer))).toMatchObject({ state: "queued" });
  });
});
