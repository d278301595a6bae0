import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { setBaseSystemFact } from "../support/base-system-facts.ts";
import { agentsSeen } from "#domain/builds/agents-seen";
import { wakeUpEveryMs } from "#domain/builds/machine";
import { nextAgentAfterMs } from "#domain/jobs";
import { countQueuedBefore } from "#storage/build-queue";
import { openDatabase } from "#storage/db";
import worker from "../../src/index.ts";
import { cancelAllBuilds, objectOfBuild, rowOfBuild } from "../support/builds.ts";
import { operate, signedIn, visit, type Client } from "../support/client.ts";
import { createSafeAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent, type FakeAgent } from "../support/fake-agent.ts";
import { patienceMs } from "../support/patience.ts";
import { connect, counts, onlyIn, report, sum, type Connected } from "../support/pool.ts";
import { isD1, whileAway } from "../support/storage-faults.ts";
import { bootableBuild, claimTestdrive } from "../support/testdrives.ts";

/** Builds of this file need their own builder root, so that no other builds wake the agents of this file. */
const root = `pool-${crypto.randomUUID().slice(0, 8)}`;
const can = onlyIn(root);

let agent: FakeAgent;
let connected: Connected[] = [];

beforeAll(async () => {
  await createSafeAppliance(await signedIn()); // brings the base system
  agent = await fakeAgent();
  await agent.hello(can);
  await setBaseSystemFact("builderRoot", root);
});
afterEach(async () => {
  await cancelAllBuilds();
  for (const one of connected) one.close();
  connected = [];
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const join = async (count: number, said: Parameters<typeof connect>[1]) => {
  const more = await connect(count, said);
  connected.push(...more);
  return more;
};
const inRoot = { said: { can } };

const newBuild = async (tux?: Client) => {
  const owner = tux ?? (await signedIn());
  return await startBuild(owner, await createSafeAppliance(owner));
};
const wokenOf = (agents: Connected[]) => agents.find(({ notices }) => notices.length > 0);
const untilWoken = (agents: Connected[], times: number) =>
  vi.waitFor(() => expect(sum(counts(agents))).toBeGreaterThanOrEqual(times), patienceMs);
const passTime = (ms: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });

/** No lease ends during a test. */
const stopClock = () => passTime(0);

/** The behaviour of an agent when it is woken. */
async function looks(): Promise<number | undefined> {
  const queue = (verb: string, body: object) =>
    visit(`/client/v4/accounts/any/queues/any/messages/${verb}`, {
      method: "POST",
      headers: { authorization: `Bearer ${agent.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const { result } = await (
    await queue("pull", { batch_size: 1 })
  ).json<{ result: { messages: { lease_id: string }[] } }>();
  const attempt = await agent.claims({ capabilities: can });
  await queue("ack", { acks: result.messages.map(({ lease_id: leaseId }) => ({ lease_id: leaseId })) });
  return attempt?.claim.buildId;
}

describe("a build", () => {
  it.each([10, 1000])("wakes one of %i free agents, and costs at most 6 requests", async (count) => {
    const agents = await join(count, inRoot);
    const tux = await signedIn();
    const applianceId = await createSafeAppliance(tux);
    const requests = vi.spyOn(worker, "fetch");

    const buildId = await startBuild(tux, applianceId);
    await untilWoken(agents, 1);
    expect(wokenOf(agents)?.notices).toEqual([{ type: "wake", kind: "build" }]);
    expect(await looks()).toBe(buildId);

    expect(requests.mock.calls.length).toBeLessThanOrEqual(6);
    await runDurableObjectAlarm(await objectOfBuild(buildId));
    expect(sum(counts(agents))).toBe(1);
  });

  it("wakes the next agent if the first does not claim it, and none twice", async () => {
    const agents = await join(3, inRoot);
    const object = await objectOfBuild(await newBuild());
    for (let woken = 1; woken <= 3; woken += 1) {
      await untilWoken(agents, woken);
      passTime(nextAgentAfterMs);
      await runDurableObjectAlarm(object);
    }
    expect(counts(agents)).toEqual([1, 1, 1]);
    expect(await looks()).toBeDefined();
  });

  it("waits while no agent is free, and wakes one that has become free in the next round", async () => {
    const [busy] = await join(1, { said: { can, free: { builds: 0, testdrives: 0 } } });
    if (!busy) throw new Error("no agent");
    const object = await objectOfBuild(await newBuild());
    await object.wake();
    await busy.reports({ free: { builds: 1, testdrives: 0 } });
    expect(busy.notices).toEqual([]);
    passTime(wakeUpEveryMs);
    await runDurableObjectAlarm(object);
    await untilWoken([busy], 1);
    expect(await looks()).toBeDefined();
  });

  it("wakes agents of an older version, which report less, and no busy one", async () => {
    const { free: _, can: __, ...older } = report;
    const [silent] = await join(1, {});
    const [old] = await join(1, { said: { ...older, free: undefined, can: undefined } });
    const [busy] = await join(1, { said: { can, free: { builds: 0, testdrives: 1 } } });
    await newBuild();
    await vi.waitFor(() => {
      expect(silent?.notices).toContainEqual({ type: "wake" });
      expect(old?.notices).toContainEqual({ type: "wake" });
    }, patienceMs);
    expect(busy?.notices).toEqual([]);
    expect(await looks()).toBeDefined();
  });

  it("is claimed by a poll if no agent has a socket", async () => {
    const buildId = await newBuild();
    expect(await looks()).toBe(buildId);
  });
});

it("gives builds to accounts in turn", async () => {
  stopClock();
  const [one, other] = [await signedIn(), await signedIn()];
  const first = [await newBuild(one), await newBuild(one), await newBuild(one)];
  const late = await newBuild(other);
  const inTurn = [first[0], late, first[1], first[2]];
  const places = await Promise.all(inTurn.map((id = 0) => countQueuedBefore(openDatabase(env), id)));
  expect(places).toEqual([0, 1, 2, 3]);
  expect([await looks(), await looks(), await looks(), await looks()]).toEqual(inTurn);
});

it("counts running builds of an account, too", async () => {
  stopClock();
  const [one, other] = [await signedIn(), await signedIn()];
  const running = await newBuild(one);
  expect(await looks()).toBe(running);
  const second = await newBuild(one);
  const first = await newBuild(other);
  expect([await looks(), await looks()]).toEqual([first, second]);
});

it("wakes no agent that the operator has drained, until it gets work again", async () => {
  const name = `agent-${crypto.randomUUID()}`;
  const drained = await fakeAgent(name);
  const duty = (draining: boolean) => operate("PUT", `/agents/${name}/draining`, { draining });
  const socketOf = async () => {
    const { webSocket } = await drained.call("GET", "/socket", { headers: { upgrade: "websocket" } });
    if (!webSocket) throw new Error("there is no socket");
    const notices: string[] = [];
    webSocket.accept();
    webSocket.addEventListener("message", ({ data }) => void notices.push(String(data)));
    return { webSocket, notices };
  };
  const before = await socketOf();
  await duty(true);
  const after = await socketOf();
  for (const { webSocket } of [before, after]) webSocket.send(JSON.stringify({ ...report, can }));
  const [working] = await join(1, inRoot);
  await newBuild();
  await untilWoken(connected, 1);
  expect([working?.notices.length, before.notices, after.notices]).toEqual([1, [], []]);
  expect(await looks()).toBeDefined();

  await duty(false);
  await vi.waitFor(() => expect([before.notices.length, after.notices.length]).toEqual([1, 1]), patienceMs);
  for (const { webSocket } of [before, after]) webSocket.close();
});

it("says why a build waits, from what agents report, without the database", async () => {
  const wanted = { ...(await rowOfBuild(await newBuild())), arch: "x86_64" as const };
  const seen = () => agentsSeen({ env, db: openDatabase(env) }, wanted);
  await join(1, { said: { can, free: { builds: 0, testdrives: 0 } } });
  await whileAway(isD1, async () => expect(await seen()).toBe("busy"));
  expect(await looks()).toBeDefined();
});

it("does not count the agent that asks among the others", async () => {
  const own = `own-${crypto.randomUUID().slice(0, 8)}`;
  const wanted = { ...(await rowOfBuild(await newBuild())), arch: "x86_64" as const, builderRoot: own };
  const maker = await fakeAgent();
  // Agents of other tests were also seen, but before this hour.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60 * 60_000 });
  await maker.hello(onlyIn(own));
  const services = { env, db: openDatabase(env) };
  expect(await agentsSeen(services, wanted)).toBe("busy");
  expect(await agentsSeen(services, wanted, maker.id)).not.toBe("busy");
});

it("wakes a free agent for a testdrive, and then the next one", async () => {
  const tux = await signedIn();
  const build = await bootableBuild(tux);
  const agents = await join(2, { said: { free: { builds: 0, testdrives: 1 } } });
  const posted = tux.post("/testdrives", { build_id: build.id });
  await vi.waitFor(() => expect(counts(agents)).toEqual([1, 1]), patienceMs);
  expect(agents.map(({ notices }) => notices[0])).toEqual(agents.map(() => ({ type: "wake", kind: "testdrive" })));
  await claimTestdrive(null, agent.token);
  await posted;
});
