import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readSecrets } from "../../scripts/launch/secrets.ts";
import type { Phase } from "../../builder-agent/src/contract.ts";
import { OwnAgent } from "./support/own-agent.ts";
import { restClient, type RestClient } from "./support/rest.ts";
import { startService, until, type Service } from "./support/service.ts";
import { openTcpProxy, type TcpProxy } from "./support/tcp-proxy.ts";

// Injects every fault that can occur during a build. The build ends with an image or with a reason, and the host is as
// before.

const folder = mkdtempSync(join(tmpdir(), "kiln-faults-"));
let service: Service;
let tux: RestClient;
let proxy: TcpProxy;
let agent: OwnAgent;
let applianceId: string;

beforeAll(async () => {
  service = await startService(["--no-agent"]);
  tux = restClient(service.ready());
  proxy = await openTcpProxy(service.ready().url);
  const token = readSecrets(service.stateDir).AGENT_TOKEN ?? "";
  // No disk reserve, and no stored packages and roots, so that each build passes through every stage.
  const bare = { isolation: "none", minFreeGb: 0, packageCacheGb: 0, preparedGb: 0 };
  agent = new OwnAgent(folder, { url: proxy.url, token, ...bare }, 1200);
  await agent.start();
  const { appliance } = await tux.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
  applianceId = appliance.id;
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  proxy[Symbol.dispose]();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(async () => {
  proxy.pass();
  agent.emptyDisk();
  const isClean = async () => (await agent.leftovers()).length === 0;
  await until("nothing is left on the host", 60, isClean).catch(async () =>
    expect(await agent.leftovers()).toEqual([]),
  );
});

async function startBuild(): Promise<string> {
  const asked = { appliance_id: applianceId, image_type: "oem", force: 1 };
  return (await tux.call("POST", "/running_builds", asked)).build.id;
}

const endOf = async (buildId: string) => (await tux.watchBuild(buildId, 400)).at(-1);
const attemptsOf = (buildId: string) => agent.said.split(`build starts buildId=${buildId} `).length - 1;

async function expectFinished(buildId: string, attempts: number): Promise<void> {
  expect(await endOf(buildId)).toMatchObject({ state: "finished" });
  expect(attemptsOf(buildId)).toBe(attempts);
}

async function killAgentAt(buildId: string, phase: Phase, attempt: number): Promise<void> {
  await agent.entered(buildId, phase, attempt);
  await agent.kill();
  await agent.start();
}

async function killKiwiAt(buildId: string, phase: Phase): Promise<void> {
  await agent.entered(buildId, phase);
  const [kiwi] = [...agent.processes()].find(([, words]) => /^\S*python\S* .*kiwi-ng /.test(words)) ?? [];
  // Never 0: that would kill this test and its parents.
  if (kiwi === undefined) throw new Error(`no KIWI among ${[...agent.processes().values()].join("\n")}`);
  process.kill(kiwi, "SIGKILL");
}

// A build is attempted up to three times, so it survives two kills.
describe("a build that is killed twice", () => {
  it("succeeds after its agent was killed in two phases", async () => {
    const buildId = await startBuild();

    await killAgentAt(buildId, "Preparing the build", 1);
    await killAgentAt(buildId, "Uploading the image", 2);

    await expectFinished(buildId, 3);
  });

  it("succeeds after KIWI and agent were killed and uploads broke", async () => {
    const before = proxy.cuts();
    const buildId = await startBuild();

    await killKiwiAt(buildId, "Installing software");
    await killAgentAt(buildId, "Creating the image", 2);
    proxy.cutAt({ pattern: /PUT \/agent\/builds\/\d+\/artifacts\/\w+\/parts/, afterBytes: 5_000_000, times: 3 });

    await expectFinished(buildId, 3);
    expect(agent.said).toContain("KIWI was killed on the builder");
    expect(proxy.cuts() - before).toBe(3);
  });
});

describe("a build whose disk is full", () => {
  it.each<Phase>(["Installing software", "Compressing the image"])(
    "ends with that reason if it stays full from %j on",
    async (phase) => {
      const buildId = await startBuild();
      await agent.entered(buildId, phase);

      agent.fillDisk();

      expect(await endOf(buildId)).toMatchObject({ state: "error", message: "The disk of the builder is full." });
      expect(attemptsOf(buildId)).toBe(3);
    },
  );

  it("is stopped in time by an agent with a reserve, then retried", async () => {
    await agent.kill("SIGTERM");
    await agent.start({ KILN_AGENT_MIN_FREE_GB: "0.75" });
    const buildId = await startBuild();
    await agent.entered(buildId, "Installing software");

    // Less than a fifth of that, and more than the build writes in the second between two checks.
    agent.fillDisk(130);
    await until("the build is stopped", 60, () => agent.said.includes("stopping a build: out of disk space"));
    await until("the agent has no room", 60, () => agent.said.includes("no room for builds"));
    agent.emptyDisk();
    await agent.entered(buildId, "Creating the image", 2);
    proxy.refuse();
    await until("the service gives the build to another agent", 90, async () => {
      const { running_build: build } = await tux.call("GET", `/running_builds/${buildId}`);
      return build.state === "queued";
    });
    proxy.pass();

    await expectFinished(buildId, 3);
  });
});

describe("a build whose repository is unreachable", () => {
  it("reports it", async () => {
    proxy.cutAt({ pattern: /GET \/repositories\//, afterBytes: 0, times: Infinity });
    const buildId = await startBuild();

    const message = expect.stringMatching(/could not be downloaded from its repository/);
    expect(await endOf(buildId)).toMatchObject({ state: "error", message });
    expect(attemptsOf(buildId)).toBe(3);
  });
});

describe("a build whose agent can open no socket", () => {
  it("is claimed by polling, and finishes", async () => {
    proxy.refuse();
    proxy.pass();
    proxy.cutAt({ pattern: /\r\nupgrade: websocket/i, afterBytes: 0, times: Infinity });
    const before = proxy.cuts();
    await until("the agent has tried in vain", 90, () => proxy.cuts() > before);
    const buildId = await startBuild();

    await until("the agent claims the build", 90, () => attemptsOf(buildId) === 1);
    await expectFinished(buildId, 1);
  });
});
