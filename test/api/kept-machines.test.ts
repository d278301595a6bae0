/** Testdrives that continue a machine which an agent has kept when its checks ended. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { completeCheck, type CheckResult } from "#lib/contract/index";
import { createAgent } from "#domain/agent";
import { checkedBuild, claim, finishes, runsOf } from "../support/checks.ts";
import { signedIn, type Client } from "../support/client.ts";
import { db, until } from "../support/testdrives.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
beforeAll(async () => {
  tux = await signedIn();
});

const web = { checks: [{ kind: "http" }, { kind: "command", command: "true" }] };
const checks = [completeCheck({ kind: "http" }), completeCheck({ kind: "command", command: "true" })];
const passed: CheckResult = { outcome: "passed", seen: "It came.", seconds: 12 };
const failed: CheckResult = { outcome: "failed", seen: "No web server answered on port 80.", seconds: 13 };
const kept = { isMachineKept: true };
const canCheck = { canRunCommands: true };
const day = 24 * 60 * 60_000;

/** A build whose checks have failed, and the id of their run. */
async function failedBuild(more: object = kept) {
  const { buildId } = await checkedBuild(tux, web);
  await finishes(buildId, [failed, passed], more, canCheck);
  const [run] = await runsOf(tux, buildId);
  if (!run) throw new Error("no run");
  return { buildId, run };
}

const start = (buildId: number, checkRun: number, more: object = {}) =>
  tux.post("/testdrives", { build_id: buildId, check_run: checkRun, ...more });

const past = (runId: number, ms: number) =>
  env.DB.prepare("UPDATE check_runs SET ended_at = ended_at - ? WHERE id = ?").bind(ms, runId).run();

describe("a machine that is kept after its checks", () => {
  it("continues at the agent that keeps it, with the devices of the checks", async () => {
    const { buildId, run } = await failedBuild();
    expect(Date.parse(run.machine_kept_until ?? "") - Date.now()).toBeGreaterThan(day - 600_000);
    const { token: other } = await createAgent(db, env.API_KEY_PEPPER, "other");

    const posted = start(buildId, run.id);
    const refused: unknown[] = [];
    const claimed = await until(async () => {
      refused.push(await claim(true, {}, other));
      return (await claim()) ?? undefined;
    });

    expect(refused.filter((one) => one !== null)).toEqual([]);
    expect(claimed).toMatchObject({ buildId, continuesAfter: checks, hasNetwork: true, wantsScreen: false });
    expect(claimed.checks).toBeUndefined();
    const { testdrive } = await readXml(await posted);
    expect(testdrive.web_url).toContain("/testdrives/");
    await tux.delete(`/testdrives/${testdrive.id}`);
  });

  it.each<[string, object]>([
    ["the agent keeps none", {}],
    ["the agent is older", { isMachineKept: undefined }],
  ])("cannot be continued if %s", async (_, more) => {
    const { buildId, run } = await failedBuild(more);
    expect(run.machine_kept_until).toBeUndefined();
    const answer = await start(buildId, run.id);
    expect(await expectError(answer, 400, "build_not_found")).toContain("No builder keeps the machine");
  });

  it("cannot be continued after a day, or when the checks have started again", async () => {
    const { buildId, run } = await failedBuild();
    const { buildId: other, run: otherRun } = await failedBuild();
    await past(run.id, day + 1);
    await tux.post(`/builds/${other}/checks`);
    expect((await runsOf(tux, other)).map(({ machine_kept_until: until }) => until)).toEqual([undefined, undefined]);

    for (const [build, id] of [
      [buildId, run.id],
      [other, otherRun.id],
      [other, run.id],
      [other, 1e9],
    ] as const)
      await expectError(await start(build, id), 400, "build_not_found");
    await finishes(other, [passed, passed], {}, canCheck);
  });

  it("takes no data for a first boot, and another account cannot continue it", async () => {
    const { buildId, run } = await failedBuild();
    const answer = await start(buildId, run.id, { user_data: "#cloud-config\n" });
    expect(await expectError(answer, 400, "invalid_value")).toContain("has already booted");

    const eve = await signedIn();
    const request = { build_id: buildId, check_run: run.id };
    await expectError(await eve.post("/testdrives", request), 400, "invalid_build_id");
  });
});
