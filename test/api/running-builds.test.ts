import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { buildObject } from "#domain/builds/build";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { app } from "../../src/app.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent } from "../support/fake-agent.ts";
import { expectError, readXml } from "../support/xml.ts";

const db = openDatabase(env.DB);

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

const start = (applianceId: number, params: Record<string, string> = {}) =>
  tux.post("/running_builds", { appliance_id: applianceId, ...params });

const seen = async (buildId: number) => (await readXml(await tux.get(`/running_builds/${buildId}`))).running_build;

const listed = async (applianceId: number) => {
  const { builds } = await readXml(await tux.get(`/builds?appliance_id=${applianceId}`));
  return [builds.build ?? []].flat();
};

/** Keeps a failing answer's reason in sight. */
const idOf = async (answer: Response): Promise<number> => {
  const document = await readXml(answer);
  expect(document).toHaveProperty("build.id");
  return Number(document.build.id);
};

describe("POST running_builds", () => {
  it("starts a build of the configuration's version and type", async () => {
    const applianceId = await createAppliance(tux);

    const answer = await start(applianceId);

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

  it("takes its parameters from a form body, and an empty one as absent", async () => {
    const applianceId = await createAppliance(tux);
    const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;

    const answer = await visit("/api/v1/user/running_builds/", {
      method: "POST",
      headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
      body: `appliance_id=${applianceId}&force=true&version=&image_type=`,
    });

    expect(await idOf(answer)).toBeGreaterThan(0);
  });

  it.each([
    ["no appliance", {}, 400, "missing_appliance_id"],
    ["appliance 0", { appliance_id: "0" }, 400, "invalid_appliance_id"],
    ["nonsense", { appliance_id: "<built-in function id>" }, 400, "invalid_appliance_id"],
    ["an unknown appliance", { appliance_id: "999999" }, 400, "invalid_appliance_id"],
  ])("refuses %s", async (_what, params, status, code) => {
    await expectError(await tux.post("/running_builds", params), status, code);
  });

  it.each([
    ["a version it never had", { version: "7.7.7" }, "invalid_version"],
    ["an unknown type", { image_type: "floppy" }, "invalid_image_type"],
    ["force=perhaps", { force: "perhaps" }, "invalid_value"],
  ])("refuses %s", async (_what, params, code) => {
    const applianceId = await createAppliance(tux);

    await expectError(await start(applianceId, params), 400, code);

    expect(await listed(applianceId)).toEqual([]);
  });

  it("does not know v2's image types on v1", async () => {
    const applianceId = await createAppliance(tux);

    const answer = await tux.on("v1").post("/running_builds", { appliance_id: applianceId, image_type: "oemiso" });

    expect(await expectError(answer, 400, "invalid_image_type")).toBe("Pick one of xen, oem, vmx, iso.");
  });

  it("refuses at once what no builder makes, and says what is missing", async () => {
    const agent = await fakeAgent();
    await agent.hello({ arches: ["x86_64", "i586"], imageTypes: ["oem", "iso"], lacking: { ec2: "sfdisk" } });
    const applianceId = await createAppliance(tux);

    const message = await expectError(await start(applianceId, { image_type: "ec2" }), 400, "configuration_error");

    expect(message).toMatch(/no builder .* ec2 images for x86_64\. Missing there: sfdisk\./i);
    expect(await listed(applianceId)).toEqual([]);
  });

  it("refuses a stranger's appliance and a template", async () => {
    const theirs = await createAppliance(await signedIn());

    await expectError(await start(theirs), 400, "invalid_appliance_id");
    await expectError(await start(1), 403, "access_denied");
  });

  it("refuses who is not signed in", async () => {
    await expectError(
      await visit("/api/v2/user/running_builds?appliance_id=1", { method: "POST" }),
      401,
      "access_denied",
    );
  });

  it("refuses an appliance whose status is not ok, with the reason", async () => {
    const applianceId = await createAppliance(tux, { arch: "i686" });
    const { status } = await readXml(await tux.get(`/appliances/${applianceId}/status`));

    const message = await expectError(await start(applianceId), 400, "configuration_error");

    expect([status.issues.issue].flat()[0].text).toBe(message);
  });

  it("leaves exactly one running when two forced starts come at once", async () => {
    const applianceId = await createAppliance(tux);

    await Promise.all([start(applianceId, { force: "1" }), start(applianceId, { force: "1" })]);

    const { running_builds: running } = await readXml(await tux.get(`/running_builds?appliance_id=${applianceId}`));
    expect([running.running_build].flat()).toHaveLength(1);
  });

  it("lets exactly one of two starts at once win", async () => {
    const applianceId = await createAppliance(tux);

    const answers = await Promise.all([start(applianceId), start(applianceId)]);

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    const refused = answers.find(({ status }) => status === 400);
    await expectError(refused ?? new Response(), 400, "image_already_exists");
  });

  it("refuses what is already built, until it is forced", async () => {
    const { applianceId } = await createBuild(tux);

    const message = await expectError(await start(applianceId, { version: "0.0.1" }), 400, "image_already_exists");

    expect(message).toContain("Version 0.0.1 is already built as oem");
    expect(await idOf(await start(applianceId, { version: "0.0.1", force: "true" }))).toBeGreaterThan(0);
  });

  it("refuses another type of a version whose first build is not finished, with and without multi", async () => {
    const applianceId = await createAppliance(tux);
    await startBuild(tux, applianceId);

    await expectError(await start(applianceId, { image_type: "iso" }), 400, "initial_build_pending");
    await expectError(await start(applianceId, { image_type: "iso", multi: "true" }), 400, "initial_build_pending");
  });

  it("builds another type of the version that was built last with multi=true", async () => {
    const { applianceId } = await createBuild(tux);

    const { build } = await readXml(await start(applianceId, { image_type: "iso", multi: "true" }));

    expect(build).toMatchObject({ version: "0.0.1", image_type: "iso" });
  });

  it("refuses more builds than an account has slots", async () => {
    for (let slot = 0; slot < 4; slot += 1) await startBuild(tux, await createAppliance(tux));
    const fifth = await createAppliance(tux);

    await expectError(await start(fifth), 400, "no_build_slots");

    const [first] = await env.DB.prepare("SELECT id FROM builds WHERE account_id = ? LIMIT 1")
      .bind(tux.accountId)
      .all<{ id: number }>()
      .then(({ results }) => results);
    await tux.delete(`/running_builds/${first?.id}`);
    expect(await idOf(await start(fifth))).toBeGreaterThan(0);
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

  it("starts all the same when its object cannot be told", async () => {
    const applianceId = await createAppliance(tux);
    const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
    vi.spyOn(env.BUILDS, "getByName").mockReturnValue({ wake: () => Promise.reject(new Error("gone")) } as never);

    const answer = await start(applianceId).finally(() => vi.restoreAllMocks());

    expect(complaint).toHaveBeenCalled();
    expect(await seen(await idOf(answer))).toMatchObject({ state: "queued" });
  });
});

describe("a forced build", () => {
  it("cancels the one that runs", async () => {
    const applianceId = await createAppliance(tux);
    const first = await startBuild(tux, applianceId);

    const second = await startBuild(tux, applianceId, { force: "1" });

    expect((await seen(first)).state).toBe("cancelled");
    expect((await seen(second)).state).toBe("queued");
  });

  it("leaves the old image until the new one is there", async () => {
    const { applianceId, buildId: old, agent } = await createBuild(tux, bytesOf("old"));
    const forced = await startBuild(tux, applianceId, { version: "0.0.1", force: "true" });
    expect(await listed(applianceId)).toMatchObject([{ id: String(old), state: "finished" }]);

    await agent.buildsSuccessfully(forced, bytesOf("new"));

    const [build, ...others] = await listed(applianceId);
    expect(others).toEqual([]);
    expect(build).toMatchObject({ id: String(forced), version: "0.0.1" });
    await expectError(await tux.get(`/builds/${old}`), 404, "invalid_build_id");
    expect(await (await visit(new URL(build.download_url).pathname)).bytes()).toEqual(bytesOf("new"));
  });

  it("leaves the old image when the new one fails", async () => {
    const { applianceId, buildId: old, agent } = await createBuild(tux);
    const forced = await startBuild(tux, applianceId, { version: "0.0.1", force: "true" });

    await (await agent.claimsBuild(forced)).call("fail", { kind: "failed", reason: "Problem: no" });

    expect((await listed(applianceId)).map(({ id, state }) => [Number(id), state])).toEqual([
      [forced, "failed"],
      [old, "finished"],
    ]);
  });
});

const versionOf = (applianceId: number) =>
  env.DB.prepare("SELECT version FROM appliances WHERE id = ?").bind(applianceId).first("version");

describe("the version of the configuration", () => {
  it("rises by one release when it has been built", async () => {
    const { applianceId } = await createBuild(tux);

    expect(await versionOf(applianceId)).toBe("0.0.2");
    expect((await readXml(await start(applianceId))).build.version).toBe("0.0.2");
  });

  it("stays when another version was built", async () => {
    const { applianceId, agent } = await createBuild(tux);
    const iso = await startBuild(tux, applianceId, { image_type: "iso", multi: "1" });

    await agent.buildsSuccessfully(iso);

    expect(await versionOf(applianceId)).toBe("0.0.2");
  });

  it("stays when the build failed", async () => {
    const applianceId = await createAppliance(tux);
    const buildId = await startBuild(tux, applianceId);

    await (await (await fakeAgent()).claimsBuild(buildId)).call("fail", { kind: "failed", reason: "Problem: no" });

    expect(await versionOf(applianceId)).toBe("0.0.1");
  });
});

describe("GET running_builds", () => {
  it("lists the appliance's builds that are not over", async () => {
    const { applianceId } = await createBuild(tux);
    const running = await startBuild(tux, applianceId);

    const { running_builds: list } = await readXml(await tux.get(`/running_builds?appliance_id=${applianceId}`));

    expect(list["@type"]).toBe("array");
    expect(list.running_build).toMatchObject({ id: String(running), state: "queued" });
  });

  it("is an empty list where nothing runs, for a template too", async () => {
    const applianceId = await createAppliance(tux);

    for (const id of [applianceId, 1]) {
      const answer = await tux.get(`/running_builds?appliance_id=${id}`);
      expect(await answer.text()).toBe('<running_builds type="array">\n</running_builds>\n');
    }
  });

  it("refuses no appliance, an unknown one and a stranger's", async () => {
    const theirs = await createAppliance(await signedIn());

    await expectError(await tux.get("/running_builds"), 400, "missing_appliance_id");
    await expectError(await tux.get("/running_builds?appliance_id=0"), 400, "invalid_appliance_id");
    await expectError(await tux.get(`/running_builds?appliance_id=${theirs}`), 400, "invalid_appliance_id");
    await expectError(await visit("/api/v2/user/running_builds?appliance_id=1"), 401, "access_denied");
  });
});

describe("GET running_builds/:id", () => {
  it("keeps answering after the end, with the finished build's id", async () => {
    const { buildId } = await createBuild(tux);

    expect(await seen(buildId)).toMatchObject({
      id: String(buildId),
      state: "finished",
      percent: "100",
      message: "Finished",
      time_elapsed: expect.stringMatching(/^\d+$/),
    });
  });

  it("says why a build failed", async () => {
    const buildId = await startBuild(tux, await createAppliance(tux));
    const reason = "Problem: nothing provides libfoo needed by hello-1.0";

    await (await (await fakeAgent()).claimsBuild(buildId)).call("fail", { kind: "failed", reason });

    expect(await seen(buildId)).toMatchObject({ state: "failed", message: reason });
  });

  it("does not know a stranger's build, nor nonsense", async () => {
    const stranger = await signedIn();
    const theirs = await startBuild(stranger, await createAppliance(stranger));

    await expectError(await tux.get(`/running_builds/${theirs}`), 404, "invalid_running_build_id");
    await expectError(await tux.on("v1").get(`/running_builds/${theirs}`), 400, "invalid_running_build_id");
    await expectError(await tux.get("/running_builds/0"), 404, "invalid_running_build_id");
    await expectError(await visit(`/api/v2/user/running_builds/${theirs}`), 401, "access_denied");
  });
});

describe("DELETE running_builds/:id", () => {
  it("cancels a build, twice is fine", async () => {
    const buildId = await startBuild(tux, await createAppliance(tux));

    for (let time = 0; time < 2; time += 1) {
      const answer = await tux.delete(`/running_builds/${buildId}`);
      expect(await answer.text()).toBe("<success></success>\n");
    }

    expect(await seen(buildId)).toMatchObject({ state: "cancelled", message: "Cancelled" });
    expect(await buildObject(env, buildId).progress()).toMatchObject({ state: "cancelled" });
  });

  it("leaves a finished build finished", async () => {
    const { buildId } = await createBuild(tux);

    await tux.delete(`/running_builds/${buildId}`);

    expect(await findAnyBuild(db, buildId)).toMatchObject({ status: "finished" });
  });

  it("does not know a stranger's build", async () => {
    const stranger = await signedIn();
    const theirs = await startBuild(stranger, await createAppliance(stranger));

    await expectError(await tux.delete(`/running_builds/${theirs}`), 404, "invalid_running_build_id");

    expect(await findAnyBuild(db, theirs)).toMatchObject({ status: "queued" });
    await expectError(await visit(`/api/v2/user/running_builds/${theirs}`, { method: "DELETE" }), 401, "access_denied");
  });
});
