import { describe, expect, it, onTestFinished, vi } from "vitest";
import { pollDelayMs } from "../src/waker.ts";
import { AgentReport } from "../src/contract.ts";
import type { FakeBuild, FakeWorker } from "./fake-worker.ts";
import { eventually, inScenario, processesIn } from "./support/agent-place.ts";
import { storeFakeRoot } from "./support/fake-root.ts";
import { frozenInput } from "./support/frozen-input.ts";
import { capabilities, startAgent } from "./support/started-agent.ts";

const claims = (worker: FakeWorker) => worker.calls.filter((call) => call === "POST /agent/builds/claim");
const isEnded = (build: FakeBuild) => build.status !== "queued" && build.status !== "running";
const runs = (build: FakeBuild) => build.log.includes("Installing");

describe("the agent", () => {
  it("claims a build on a message, and acknowledges it after that", async () => {
    await using agent = await startAgent();
    const { worker } = agent;
    await eventually("the looks at start and at the socket's opening", () => claims(worker).length === 2);

    const build = worker.queueBuild(frozenInput());
    worker.send({ kind: "build", buildId: build.claim.buildId });
    await eventually("the message is gone", () => worker.acked.length === 1);
    expect(build.status).toBe("running");
    await eventually("the build ends", () => isEnded(build));

    expect(build.status).toBe("finished");
  });

  it("finishes its build and takes no other when it is drained", async () => {
    await using agent = await startAgent();
    const { worker } = agent;
    const build = worker.queueBuild(frozenInput());
    worker.send({ kind: "build", buildId: build.claim.buildId });
    await eventually("the build runs", () => build.status === "running");
    const drained = agent.drain();
    const other = worker.queueBuild(frozenInput());
    worker.send({ kind: "build", buildId: other.claim.buildId });
    await drained;

    expect([build.status, other.status]).toEqual(["finished", "queued"]);
  });

  it("ends immediately when it is drained without work", async () => {
    await using agent = await startAgent();
    await agent.drain();
    const build = agent.worker.queueBuild(frozenInput());
    agent.worker.send({ kind: "build", buildId: build.claim.buildId });
    expect([build.status, agent.worker.acked]).toEqual(["queued", []]);
  });

  it("claims a build immediately on a notice without a message", async () => {
    // The agent's pauses are this many units of 2 s. A claimed build shows that it did not wait for a pause to end.
    vi.spyOn(Math, "random").mockReturnValue(100);
    onTestFinished(() => void vi.restoreAllMocks());
    await using agent = await startAgent();
    const { worker } = agent;
    await eventually("the looks at start and at the socket's opening", () => claims(worker).length === 2);

    const build = worker.queueBuild(inScenario("slow"));
    worker.notify({ type: "wake" });
    await eventually("the claim", () => build.status === "running");
  });

  it("reports a new builder root to the Worker with the next claim", async () => {
    const sha256 = "a".repeat(64);
    const root = { name: "debian-13", sha256, builder: "9.24.56", imageTypes: ["oem" as const], packageTypes: [] };
    await using agent = await startAgent({ examine: async () => ({ ...capabilities, roots: [root] }) });
    const { worker, stateDir } = agent;
    await eventually("the looks at start and at the socket's opening", () => claims(worker).length === 2);
    storeFakeRoot(stateDir, { name: "debian-13", sha256 });
    worker.notify({ type: "wake" });
    await eventually("a claim with the root", () => worker.claimedWith.at(-1)?.roots?.[0]?.name === "debian-13");
  });

  it("acknowledges a message without work, and one that is invalid", async () => {
    await using agent = await startAgent({ config: { slots: 2 } });
    const { worker } = agent;

    worker.send({ kind: "build", buildId: 77 });
    worker.send({ kind: "cake" });
    await eventually("both are gone", () => worker.acked.length === 2);
  });

  it("leaves messages while its slots are taken, then takes the next", async () => {
    await using agent = await startAgent();
    const { worker } = agent;
    const first = worker.queueBuild(inScenario("slow"));
    worker.send({ kind: "build", buildId: first.claim.buildId });
    await eventually("the first build runs", () => runs(first));

    const second = worker.queueBuild(frozenInput());
    worker.send({ kind: "build", buildId: second.claim.buildId });
    worker.notify({ type: "wake" });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(second.status).toBe("queued");
    // The first build's message may also be in the queue, because an agent that has just connected claims without a
    // message.
    expect(worker.messages.map(({ body }) => String(Buffer.from(body, "base64")))).toContainEqual(
      JSON.stringify({ kind: "build", buildId: second.claim.buildId }),
    );

    worker.notify({ type: "cancel", buildId: first.claim.buildId });
    await eventually("the second build ends", () => isEnded(second));
    expect(second.status).toBe("finished");
  });

  it("finds KIWI later if its first probe failed", async () => {
    const found = { imageTypes: [], lacking: { oem: "KIWI version" }, builder: "none" };
    const examine = vi.fn(async () => ({ ...capabilities, lacking: {} }));
    await using agent = await startAgent({ found, examine, examineAfterMs: 10 });
    const build = agent.worker.queueBuild(frozenInput());
    await eventually("the build ends", () => isEnded(build));
    expect(build.status).toBe("finished");
  });

  it("repeats a claim whose answer is lost, as the same claim", async () => {
    await using agent = await startAgent({
      prepare: (worker) => {
        worker.queueBuild(frozenInput());
        worker.trouble(/builds\/claim$/, "drop");
      },
    });
    const { worker } = agent;
    await eventually("the build ends", () => [...worker.builds.values()].every(isEnded));
    const [lost, again] = worker.claims;
    expect(again).toEqual({ ...lost, isRepeated: true });
    expect(lost?.nonce).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(worker.claims.slice(1).map(({ nonce }) => nonce)).size).toBe(worker.claims.length - 1);
  });

  it("repeats a claim later if all its tries have lost their answers", async () => {
    await using agent = await startAgent({
      prepare: (worker) => {
        worker.queueBuild(frozenInput());
        worker.trouble(/builds\/claim$/, "drop", 5);
      },
    });
    const { worker } = agent;
    await eventually("the build ends", () => [...worker.builds.values()].every(isEnded));
    const [lost, ...again] = worker.claims.slice(0, 6);
    expect(again).toEqual(Array.from({ length: 5 }, () => ({ ...lost, isRepeated: true })));
  });

  it("repeats a claim of a testdrive in the same way", async () => {
    await using agent = await startAgent({
      config: { testdriveSlots: 1 },
      found: { testdrives: true },
      prepare: (worker) => worker.trouble(/testdrives\/claim$/, "drop"),
    });
    const { testdriveClaims } = agent.worker;
    await eventually("the repeated claim", () => testdriveClaims.length > 1);
    const [lost, again] = testdriveClaims;
    expect(again).toEqual({ ...lost, isRepeated: true });
    expect(lost?.nonce).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("runs two builds at the same time with two slots", async () => {
    await using agent = await startAgent({ config: { slots: 2 } });
    const { worker } = agent;

    const builds = [worker.queueBuild(inScenario("slow")), worker.queueBuild(inScenario("slow"))];
    for (const build of builds) worker.send({ kind: "build", buildId: build.claim.buildId });
    worker.notify({ type: "wake" });

    await eventually("both run", () => builds.every(runs));
  });

  it("takes the next build, but no third, while one only uploads", async () => {
    await using agent = await startAgent();
    const { worker } = agent;
    const builds = [frozenInput(), inScenario("slow"), frozenInput()].map((input) => worker.queueBuild(input));
    const [first, second] = builds;
    worker.trouble(new RegExp(`/builds/${first?.claim.buildId}/artifacts/image/complete$`), 503, Infinity);
    worker.notify({ type: "wake" });
    await eventually("the second runs", () => second !== undefined && runs(second));
    worker.notify({ type: "wake" });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(builds.map(({ status }) => status)).toEqual(["running", "running", "queued"]);
  });

  it("ends a build that is cancelled on the socket", async () => {
    await using agent = await startAgent();
    const { worker, stateDir } = agent;
    const build = worker.queueBuild(inScenario("slow"));
    worker.notify({ type: "wake" });
    await eventually("KIWI runs", () => processesIn(stateDir).size > 0);

    worker.notify({ type: "cancel", buildId: build.claim.buildId });
    await eventually("KIWI is gone", () => processesIn(stateDir).size === 0);
  });

  it("reports what it can do, and each slot that is taken or free again", async () => {
    await using agent = await startAgent({ config: { slots: 1 } });
    const { worker } = agent;
    const reports: AgentReport[] = [];
    const onMessage = (data: unknown) => {
      const text = String(data);
      if (text !== "ping") reports.push(AgentReport.parse(JSON.parse(text)));
    };
    for (const socket of worker.sockets) socket.on("message", onMessage);
    await eventually("the looks at start and at the socket's opening", () => claims(worker).length === 2);

    const build = worker.queueBuild(inScenario("slow"));
    worker.notify({ type: "wake", kind: "build" });
    await eventually("a report that it is busy", () => reports.at(-1)?.free?.builds === 0);
    expect(reports.at(-1)).toMatchObject({ free: { builds: 0, testdrives: 0 }, can: capabilities });
    worker.notify({ type: "cancel", buildId: build.claim.buildId });
    await eventually("a report that it is free", () => reports.at(-1)?.free?.builds === 1);
  });

  it("looks only for the kind of work that it is woken for", async () => {
    await using agent = await startAgent({ found: { testdrives: true } });
    const { worker } = agent;
    const counts = () => [claims(worker).length, worker.testdriveClaims.length];
    await eventually("the looks at start and at the socket's opening", () => counts().join() === "2,2");

    worker.notify({ type: "wake", kind: "build" });
    await eventually("a claim of a build", () => claims(worker).length === 3);
    worker.notify({ type: "wake", kind: "testdrive" });
    await eventually("a claim of a testdrive", () => worker.testdriveClaims.length === 3);
    expect(counts()).toEqual([3, 3]);
  });

  it("works without its socket, and reconnects it", async () => {
    await using agent = await startAgent();
    const { worker } = agent;

    for (const socket of worker.sockets) socket.terminate();
    worker.sockets.clear();
    const build = worker.queueBuild(frozenInput());
    worker.send({ kind: "build", buildId: build.claim.buildId });

    await eventually("the build ends", () => isEnded(build));
    await eventually("a new socket", () => worker.sockets.size > 0);
  });

  it("survives errors of the Worker", async () => {
    await using agent = await startAgent({
      prepare: (worker) => {
        worker.trouble(/\/messages\/pull$/, 503, 2);
        worker.trouble(/\/builds\/claim$/, "drop");
      },
    });
    const { worker } = agent;

    const build = worker.queueBuild(frozenInput());
    worker.send({ kind: "build", buildId: build.claim.buildId });
    worker.notify({ type: "wake" });

    await eventually("the build ends", () => isEnded(build));
    expect(build.status).toBe("finished");
  });

  it("claims no builds if the doctor found that none can succeed", async () => {
    await using agent = await startAgent({ config: { isolation: "vm" }, found: { isolation: "vm", imageTypes: [] } });
    const { worker } = agent;

    worker.queueBuild(frozenInput());
    worker.notify({ type: "wake" });
    await new Promise((resolve) => setTimeout(resolve, 300));

    expect(claims(worker)).toEqual([]);
  });

  it("claims no builds while its disk is too full", async () => {
    await using agent = await startAgent({ config: { minFreeGb: 10_000 } });
    const { worker } = agent;
    const build = worker.queueBuild(frozenInput());

    worker.send({ kind: "build", buildId: build.claim.buildId });
    await eventually("the message is put back", () => worker.retried.length > 0);

    expect(build.status).toBe("queued");
    expect(worker.acked).toEqual([]);
  });

  it("releases its builds when it stops", async () => {
    await using agent = await startAgent();
    const { worker } = agent;
    const build = worker.queueBuild(inScenario("slow"));
    worker.notify({ type: "wake" });
    await eventually("the build runs", () => runs(build));

    await agent.stop();

    expect(build.status).toBe("released");
  });
});

describe("the pause between two pulls", () => {
  it.each([
    [0, 1_000, 2_000],
    [3, 1_000, 2_000],
    [8, 3_000, 6_200],
    [30, 7_500, 15_000],
  ])("after %i empty pulls is between %i and %i ms", (idlePulls, least, most) => {
    expect(pollDelayMs(idlePulls, 0)).toBeGreaterThanOrEqual(least);
    expect(pollDelayMs(idlePulls, 1)).toBeLessThanOrEqual(most);
  });
});
