import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { giveUpSlot } from "#domain/repositories/turns";
import { openDatabase } from "#storage/db";
import { operate, signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { uploadFile } from "../support/files.ts";
import { metricsNow } from "../support/metrics.ts";
import { messagesOfSweep, sweepIn } from "../support/sweep.ts";
import { patienceMs } from "../support/patience.ts";

const db = openDatabase(env);
const minuteMs = 60_000;
let tux: Client;

beforeAll(async () => {
  tux = await signedIn();
});

const health = async () => {
  const answer = await operate("GET", "/health");
  const { ok, reasons } = await answer.json<{ ok: boolean; reasons: { code: string; message: string }[] }>();
  return { status: answer.status, ok, codes: reasons.map(({ code }) => code) };
};

/** Makes all queued builds look as if they had waited this long. */
const waitedMs = (ms: number) =>
  env.DB.prepare("UPDATE builds SET created_at = ?1, requeued_at = NULL WHERE status = 'queued'")
    .bind(Date.now() - ms)
    .run();

describe("GET metrics", () => {
  it("requires the admin secret", async () => {
    expect((await visit("/admin/metrics")).status).toBe(401);
  });

  it("is Prometheus' text format", async () => {
    const answer = await operate("GET", "/metrics");
    const comment = /^# (HELP [a-z_]+ .+|TYPE [a-z_]+ (gauge|counter))$/;
    const sample = /^[a-z_]+(\{[a-z]+="[^"\\\n]*"(,[a-z]+="[^"\\\n]*")*\})? \d+$/;

    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const [last, ...lines] = (await answer.text()).split("\n").toReversed();
    expect(last).toBe("");
    expect(lines.filter((line) => !comment.test(line) && !sample.test(line))).toEqual([]);
  });

  it("has the counters that alerts watch before anything raises them, because Prometheus sees no increase in a first sample", async () => {
    await env.DB.exec("DELETE FROM counters");
    const now = await metricsNow();
    for (const cause of ["silence", "restart", "fault"]) {
      expect(now.get(`kiln_builds_ended_total{state="error",cause="${cause}"}`)).toBe(0);
      expect(now.get(`kiln_build_attempts_lost_total{cause="${cause}"}`)).toBe(0);
    }
    expect(now.get('kiln_refusals_total{code="internal_error",status="500"}')).toBe(0);
    expect(now.get("kiln_imports_given_up_total")).toBe(0);
  });

  it("counts a build's losses and its end once each, however often its object repeats them", async () => {
    const appliance = await createAppliance(tux);
    const buildId = await startBuild(tux, appliance);
    await waitedMs(90_000);
    const waiting = await metricsNow();
    const agent = await fakeAgent();
    await (await agent.claimsBuild(buildId)).beats(); // without a heartbeat, it would not be a loss
    const claimed = await metricsNow();
    await agent.hello(); // has restarted
    await (await agent.claimsBuild(buildId)).call("fail", { kind: "error", reason: "no space left" });
    const last = await agent.claimsBuild(buildId);
    for (let times = 0; times < 2; times += 1) {
      await last.call("fail", { kind: "failed", reason: "nothing provides x" });
    }
    const ended = await metricsNow();

    expect(waiting.get('kiln_builds{state="queued"}')).toBe(1);
    expect(waiting.get("kiln_builds_oldest_queued_seconds")).toBeGreaterThanOrEqual(90);
    expect(claimed.get('kiln_builds{state="running"}')).toBe(1);
    expect(claimed.get('kiln_agents{state="busy"}')).toBe(1);
    expect(claimed.get("kiln_builds_oldest_queued_seconds")).toBe(0);
    expect(ended.get('kiln_build_attempts_lost_total{cause="restart"}')).toBe(1);
    expect(ended.get('kiln_build_attempts_lost_total{cause="fault"}')).toBe(1);
    expect(ended.get('kiln_builds_ended_total{state="failed",cause="content"}')).toBe(1);
    expect(ended.get('kiln_builds{state="running"}')).toBe(0);
  });

  it("counts an agent that is drained apart", async () => {
    await fakeAgent("drained");
    const before = await metricsNow();
    await operate("PUT", "/agents/drained/draining", { draining: true });
    const now = await metricsNow();
    const idle = 'kiln_agents{state="idle"}';
    expect(now.get('kiln_agents{state="draining"}')).toBe(1);
    expect(now.get(idle)).toBe((before.get(idle) ?? 0) - 1);
  });

  it("counts finished and cancelled builds", async () => {
    const agent = await fakeAgent();
    await agent.buildsSuccessfully(await startBuild(tux, await createAppliance(tux)));
    await tux.delete(`/running_builds/${await startBuild(tux, await createAppliance(tux))}`);
    const now = await metricsNow();

    expect(now.get('kiln_builds_ended_total{state="finished",cause=""}')).toBe(1);
    expect(now.get('kiln_builds_ended_total{state="cancelled",cause=""}')).toBe(1);
  });

  it("counts refusals of all entry points by their code", async () => {
    const [ofAgents, ofUsers] = [
      'code="unauthorized",status="401"',
      'code="invalid_appliance_id",status="404"',
    ] as const;
    const counts = async () => {
      const now = await metricsNow();
      return [ofAgents, ofUsers].map((labels) => now.get(`kiln_refusals_total{${labels}}`) ?? 0);
    };
    // Refusals from other files may still be in memory. They are written with the first one of this test.
    await visit("/agent/hello", { method: "POST" });
    await vi.waitFor(async () => expect((await counts())[0]).toBeGreaterThan(0), {
      timeout: patienceMs,
      interval: 200,
    });
    const [refused = 0, unknown = 0] = await counts();

    await tux.get("/appliances/999999999");
    await tux.get("/appliances/999999999");
    await visit("/agent/hello", { method: "POST" });

    const expected = [refused + 1, unknown + 2];
    await vi.waitFor(async () => expect(await counts()).toEqual(expected), { timeout: patienceMs, interval: 200 });
  });

  it("reports the size of the database and, after a round of the sweep, of what accounts store", async () => {
    await sweepIn(0);
    const before = (await metricsNow()).get("kiln_storage_bytes") ?? expect.fail("it is not measured");
    await uploadFile(tux, await createAppliance(tux), "port = 7000\n");
    await sweepIn(0);
    const now = await metricsNow();

    expect(now.get('kiln_database_bytes{database="main"}')).toBeGreaterThan(100_000);
    expect(now.get('kiln_database_bytes{database="packages"}')).toBeGreaterThan(10_000);
    expect(now.get("kiln_storage_bytes")).toBe(before + "port = 7000\n".length);
    expect(now.get('kiln_sweep_lag_seconds{chore="measureStorage"}')).toBeLessThan(60);
  });
});

describe("GET health", () => {
  beforeEach(async () => {
    await env.DB.batch([env.DB.prepare("DELETE FROM builds"), env.DB.prepare("DELETE FROM chore_runs")]);
    await messagesOfSweep();
  });

  it("is well while the sweep runs and nothing waits", async () => {
    expect(await health()).toEqual({ status: 200, ok: true, codes: [] });
  });

  it("fails if an idle agent leaves a build that it can do", async () => {
    await fakeAgent();
    await startBuild(tux, await createAppliance(tux));
    expect((await health()).status).toBe(200);
    await waitedMs(11 * minuteMs);
    expect(await health()).toEqual({ status: 503, ok: false, codes: ["builds_wait"] });
    expect((await metricsNow()).get('kiln_trouble{reason="builds_wait"}')).toBe(1);
  });

  it("fails if the only agent that can do a build has no room on its disk", async () => {
    const agent = await fakeAgent();
    await env.DB.prepare("UPDATE agents SET capabilities = json_set(capabilities, '$.hasRoom', json('false'))").run();
    await startBuild(tux, await createAppliance(tux));
    await waitedMs(11 * minuteMs);
    expect(await health()).toEqual({ status: 503, ok: false, codes: ["builds_wait"] });
    expect((await metricsNow()).get('kiln_agents{state="full"}')).toBeGreaterThan(0);
    await agent.hello();
  });

  it("fails if builds wait and no agent is alive", async () => {
    await env.DB.prepare("UPDATE agents SET last_seen_at = 0").run();
    await startBuild(tux, await createAppliance(tux));
    expect((await health()).status).toBe(200);
    await waitedMs(3 * minuteMs);
    expect(await health()).toEqual({ status: 503, ok: false, codes: ["no_agents"] });
  });

  it("fails if the sweep stands still, and is well after its next run", async () => {
    await env.DB.prepare("UPDATE chore_runs SET succeeded_at = ?")
      .bind(Date.now() - 6 * minuteMs)
      .run();
    expect(await health()).toEqual({ status: 503, ok: false, codes: ["sweep_late"] });
    await sweepIn(0);
    expect((await health()).status).toBe(200);
  });

  it("fails for an hour after an import was given up", async () => {
    const [repository = 0] = await env.DB.prepare("SELECT id FROM repositories LIMIT 1")
      .all<{ id: number }>()
      .then(({ results }) => results.map(({ id }) => id));
    await giveUpSlot({ env, db }, repository);
    expect((await health()).codes).toEqual(["imports_given_up"]);
    await env.DB.prepare("UPDATE counters SET changed_at = 0 WHERE name = 'imports_given_up'").run();
    expect((await health()).status).toBe(200);
  });
});
