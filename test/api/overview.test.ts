import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { overviewOf } from "#domain/appliances/overview";
import { openDatabase } from "#storage/db";
import { appliances, builds, lastStatuses } from "#storage/schema";
import { signedIn, type Client } from "../support/client.ts";
import { counting } from "../support/counting.ts";
import { createAppliance, createBuild, createSafeAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { tokenOf } from "../support/tokens.ts";
import { patienceMs } from "../support/patience.ts";

interface Shown {
  id: number;
  state: string;
  text?: string;
  errors: number;
  running_builds: { percent: number; queue_position?: number; time_left?: number }[];
  last_build?: { state: string; message: string; size: number };
  images: { version: string; image_type: string }[];
}

const json = { headers: { accept: "application/json" } };

async function overview(tux: Client, query = ""): Promise<{ count: number; pages: number; appliance: Shown[] }> {
  const answer = await tux.get(`/overview${query}`, json);
  return (await answer.json<{ overview: { count: number; pages: number; appliance: Shown[] } }>()).overview;
}

/** Its one appliance. */
async function only(tux: Client): Promise<Shown> {
  const { appliance } = await overview(tux);
  const [one] = appliance;
  if (!one || appliance.length > 1) throw new Error("not one appliance");
  return one;
}

describe("GET overview", () => {
  it("examines an appliance that it shows, for the next time", async () => {
    const tux = await signedIn();
    await createSafeAppliance(tux);

    expect(await only(tux)).toMatchObject({ state: "unknown", running_builds: [], images: [] });

    await vi.waitFor(async () => expect(await only(tux)).toMatchObject({ state: "ok", errors: 0 }), {
      timeout: patienceMs,
    });
  });

  it("reports what is wrong, and what the status said after a change", async () => {
    const tux = await signedIn();
    const id = await createSafeAppliance(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "no-such-package" });
    await tux.get(`/appliances/${id}/status`);

    const broken = await only(tux);
    expect(broken).toMatchObject({ state: "error", errors: 1 });
    expect(broken.text).toContain("no-such-package");

    await tux.post(`/appliances/${id}/cmd/remove_package`, { name: "no-such-package" });
    await tux.get(`/appliances/${id}/status`);
    expect(await only(tux)).toMatchObject({ state: "ok", errors: 0 });
  });

  it("shows a build that waits and one that runs, with what is left of it", async () => {
    const tux = await signedIn();
    const { applianceId } = await createBuild(tux);
    const buildId = await startBuild(tux, applianceId);

    expect(await only(tux)).toMatchObject({
      state: "waiting",
      running_builds: [{ queue_position: expect.any(Number) }],
    });

    const attempt = await (await fakeAgent()).claimsBuild(buildId);
    await attempt.beats({ percent: 40, message: "Installing software (12/48) busybox" });
    expect(await only(tux)).toMatchObject({
      state: "building",
      text: "Installing software (12/48) busybox",
      // The remaining part of the 120 seconds that the previous build took.
      running_builds: [{ percent: 40, time_left: expect.toSatisfy((left: number) => left > 30 && left <= 120) }],
      last_build: { state: "finished" },
    });
    const all = await tux.get("/account/running_builds", json);
    expect(await all.json()).toMatchObject({
      running_builds: [{ id: buildId, appliance_id: applianceId, percent: 40 }],
    });
  });

  it("shows why the last build failed, beside the images of the one before", async () => {
    const tux = await signedIn();
    const { applianceId } = await createBuild(tux);
    const attempt = await (await fakeAgent()).claimsBuild(await startBuild(tux, applianceId));
    await attempt.call("fail", { kind: "failed", reason: "The build script ended with 12." });

    expect(await only(tux)).toMatchObject({
      last_build: { state: "failed", message: "The build script ended with 12." },
      images: [{ version: "0.0.1", image_type: "oem" }],
    });
  });

  it("finds appliances by part of a name and by a selected package, page by page", async () => {
    const tux = await signedIn();
    const names = ["Print server", "Web SERVER", "Kiosk"];
    const ids: number[] = [];
    for (const name of names) ids.push(await createAppliance(tux, { name }));
    await tux.post(`/appliances/${ids[2]}/cmd/add_package`, { name: "hello" });

    const found = async (query: string) => (await overview(tux, query)).appliance.map(({ id }) => id);
    expect(await found("?search=server")).toEqual([ids[1], ids[0]]);
    expect(await found("?search=hello")).toEqual([ids[2]]);
    expect(await overview(tux, "?per_page=2&page=2")).toMatchObject({
      count: 3,
      pages: 2,
      appliance: [{ id: ids[0] }],
    });
  });

  it("shows a token for one appliance that one alone", async () => {
    const tux = await signedIn();
    const [id] = [await createAppliance(tux), await createAppliance(tux)];
    const { client } = await tokenOf(tux, { appliance_id: id });

    expect((await overview(client)).appliance.map((one) => one.id)).toEqual([id]);
  });

  it("takes as many statements for 320 appliances as for one", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    const ask = async () => {
      const { env: counted, calls } = counting(env);
      const request = { accountId: tux.accountId, only: null, search: "", page: 1, perPage: 100 };
      const { total } = await overviewOf({ env: counted, db: openDatabase(counted) }, request);
      return { total, calls };
    };
    const ofOne = await ask();
    await copy(tux, id, 319);

    const ofMany = await ask();

    expect([ofOne.total, ofMany.total]).toEqual([1, 320]);
    expect(ofMany.calls).toEqual(ofOne.calls);
    expect(ofMany.calls.length).toBeLessThanOrEqual(4);
  });
});

/** More appliances like one, each with finished builds. */
async function copy(tux: Client, id: number, count: number): Promise<void> {
  const db = openDatabase(env);
  const source = await db.query.appliances.findFirst({ where: (table, { eq }) => eq(table.id, id) });
  if (!source) throw new Error("no appliance");
  const { id: _id, configurationBytes: _bytes, ...row } = source;
  for (let nth = 0; nth < count; nth++) {
    const [added] = await db
      .insert(appliances)
      .values({ ...row, uuid: crypto.randomUUID() })
      .returning();
    if (!added) throw new Error("not added");
    const made = { imageType: "oem", status: "finished", inputSha256: "0", createdAt: row.createdAt } as const;
    const built = { ...made, accountId: tux.accountId, applianceId: added.id };
    const finished = ["0.0.1", "0.0.2"].map((version) => ({ ...built, version, downloadToken: crypto.randomUUID() }));
    const status = { errors: 0, warnings: 0, text: "", editedAt: row.lastEditedAt, examinedAt: new Date() };
    await db.batch([
      db.insert(lastStatuses).values({ applianceId: added.id, ...status }),
      db.insert(builds).values(finished),
    ]);
  }
}
