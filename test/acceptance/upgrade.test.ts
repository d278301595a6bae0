import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminClient } from "../../scripts/admin/client.ts";
import { type Bundle, bundleWorker } from "../../scripts/launch/bundle.ts";
import { loadContents } from "../../scripts/launch/contents.ts";
import { type EmbeddedOptions, startEmbedded } from "../../scripts/launch/embedded.ts";
import { firstAccount } from "../../scripts/launch/first-account.ts";
import { findSampleDistribution } from "../../scripts/launch/sample-distribution.ts";
import { readOrMakeSecrets } from "../../scripts/launch/secrets.ts";
import { makeNextRelease } from "./support/next-release.ts";
import { OwnAgent } from "./support/own-agent.ts";
import { restClient, type RestClient } from "./support/rest.ts";
import { openViewer, relayWire, type Viewer } from "./support/rfb.ts";
import { freePort, until } from "./support/service.ts";

// Simulates a deploy on one state directory: the Worker is replaced in the middle of a build and a testdrive. Its agent
// stays.

const folder = mkdtempSync(join(tmpdir(), "kiln-upgrade-"));
const stateDirectory = join(folder, "state");
mkdirSync(stateDirectory);
const secrets = readOrMakeSecrets(stateDirectory);

let current: Bundle;
let port: number;
let url: string;
let worker: Awaited<ReturnType<typeof startEmbedded>> | undefined;
let agent: OwnAgent;
let tux: RestClient;

beforeAll(async () => {
  current = await bundleWorker();
  port = await freePort();
  url = `http://127.0.0.1:${port}`;
  await start({ bundle: current });
  const admin = adminClient(url, secrets.ADMIN_SECRET);
  await loadContents(admin, stateDirectory, await findSampleDistribution());
  const { username, apiKey } = await firstAccount(admin);
  tux = restClient({ url, username, api_key: apiKey, agent_pid: null });
  // Without stored packages and roots, so that each build passes through every stage.
  const stores = { minFreeGb: 0, packageCacheGb: 0, preparedGb: 0, cacheGb: 1 };
  const given = { url, token: secrets.AGENT_TOKEN, isolation: "none", testdriveSlots: 1, memoryMb: 256, ...stores };
  agent = new OwnAgent(folder, given, 1500);
  await agent.start();
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await worker?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(release: Pick<EmbeddedOptions, "bundle" | "modulesFolder" | "migrationsFolder">): Promise<void> {
  const place = { host: "127.0.0.1", port, stateDirectory, outsideCidrs: [] };
  worker = await startEmbedded({ ...release, ...place, bindings: secrets });
}

async function startBuild(): Promise<string> {
  const { appliance } = await tux.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
  return (await tux.call("POST", "/running_builds", { appliance_id: appliance.id, image_type: "oem" })).build.id;
}

async function expectFinished(buildId: string): Promise<void> {
  const last = (await tux.watchBuild(buildId, 120)).at(-1);
  expect(last, `${agent.logOf(buildId, 1)}\n${agent.said}`).toMatchObject({ state: "finished" });
  expect(agent.said.split(`build starts buildId=${buildId} `)).toHaveLength(2);
}

/** Waits until its log has a line of this phase, which may be over after a second. */
async function entered(buildId: string, phase: string): Promise<void> {
  const endsAt = Date.now() + 60_000;
  while (!agent.logOf(buildId, 1).includes(`Kiln: ${phase}`)) {
    if (Date.now() > endsAt) throw new Error(`it never reached ${phase}:\n${agent.said.slice(-2000)}`);
    await sleep(10);
  }
}

/** Watches a testdrive's machine, through the Worker and the agent. */
async function watch(drive: { url: string }): Promise<Viewer> {
  const wire = await until("the relay is open", 60, () =>
    relayWire(`${drive.url.replace(/^http/, "ws")}/socket`).catch(() => undefined),
  );
  return await openViewer(wire);
}

describe("an upgrade", () => {
  it("of the Worker in the middle of work loses nothing", async () => {
    const first = await startBuild();
    await expectFinished(first);
    const { testdrive: drive } = await tux.call("POST", "/testdrives", { build_id: first });
    const before = await (await watch(drive)).frame();
    const second = await startBuild();
    await entered(second, "Installing software");

    await worker?.stop();
    await start(makeNextRelease(current, mkdtempSync(join(folder, "next-"))));

    // A testdrive without a viewer ends after a minute.
    const viewer = await watch(drive);
    await expectFinished(second);
    // The machine continued: it began to boot before, and shows something else now.
    expect((await viewer.frame()).digest).not.toBe(before.digest);
    viewer.close();
  });
});
