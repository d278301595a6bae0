import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { adminClient } from "../../../scripts/admin/client.ts";
import { loadContents } from "../../../scripts/launch/contents.ts";
import { type EmbeddedOptions, startEmbedded } from "../../../scripts/launch/embedded.ts";
import { firstAccount } from "../../../scripts/launch/first-account.ts";
import { findSampleDistribution } from "../../../scripts/launch/sample-distribution.ts";
import { readOrMakeSecrets } from "../../../scripts/launch/secrets.ts";
import { OwnAgent } from "./own-agent.ts";
import { restClient, type RestClient } from "./rest.ts";
import { openViewer, relayWire, type Viewer } from "./rfb.ts";
import { freePort, until } from "./service.ts";

export type Release = Pick<EmbeddedOptions, "bundle" | "modulesFolder" | "migrationsFolder" | "objects">;

/** A service with one state directory and an agent. A test chooses the release of its Worker, and replaces it. */
export class ReleasedService implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "kiln-release-"));
  readonly #stateDirectory = join(this.#folder, "state");
  readonly #port: number;
  #worker: Awaited<ReturnType<typeof startEmbedded>> | undefined;
  #agent: OwnAgent | undefined;
  #account: RestClient | undefined;

  private constructor(port: number) {
    this.#port = port;
    mkdirSync(this.#stateDirectory);
  }

  static async start(release: Release): Promise<ReleasedService> {
    const service = new ReleasedService(await freePort());
    try {
      await service.replace(release);
      await service.#fill();
    } catch (error) {
      await service[Symbol.asyncDispose]();
      throw error;
    }
    return service;
  }

  async #fill(): Promise<void> {
    const url = `http://127.0.0.1:${this.#port}`;
    const secrets = readOrMakeSecrets(this.#stateDirectory);
    const admin = adminClient(url, secrets.ADMIN_SECRET);
    await loadContents(admin, this.#stateDirectory, await findSampleDistribution());
    const { username, apiKey } = await firstAccount(admin, this.#stateDirectory);
    this.#account = restClient({ url, username, api_key: apiKey ?? "", agent_pid: null });
    // No stored packages and roots, so that each build passes through every stage.
    const stores = { minFreeGb: 0, packageCacheGb: 0, preparedGb: 0, cacheGb: 1 };
    const given = { url, token: secrets.AGENT_TOKEN, isolation: "none", testdriveSlots: 1, memoryMb: 256, ...stores };
    this.#agent = new OwnAgent(this.#folder, given, 1500);
    await this.#agent.start();
  }

  /** Stops the Worker, and starts this release with the same data. The agent keeps running. */
  async replace(release: Release): Promise<void> {
    await this.#worker?.stop();
    const stateDirectory = this.#stateDirectory;
    const bindings = readOrMakeSecrets(stateDirectory);
    const place = { host: "127.0.0.1", port: this.#port, stateDirectory, outsideCidrs: [] };
    this.#worker = await startEmbedded({ ...release, ...place, bindings });
  }

  get account(): RestClient {
    if (this.#account === undefined) throw new Error("the service has no account yet");
    return this.#account;
  }

  get agent(): OwnAgent {
    if (this.#agent === undefined) throw new Error("the service has no agent yet");
    return this.#agent;
  }

  async startBuild(): Promise<string> {
    const { appliance } = await this.account.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
    const given = { appliance_id: appliance.id, image_type: "oem" };
    return (await this.account.call("POST", "/running_builds", given)).build.id;
  }

  /** Waits until its first attempt has finished. */
  async finish(buildId: string): Promise<void> {
    const last = (await this.account.watchBuild(buildId, 120)).at(-1);
    expect(last, `${this.agent.logOf(buildId, 1)}\n${this.agent.said}`).toMatchObject({ state: "finished" });
    expect(this.agent.said.split(`build starts buildId=${buildId} `)).toHaveLength(2);
  }

  async startTestdrive(buildId: string): Promise<{ url: string }> {
    return (await this.account.call("POST", "/testdrives", { build_id: buildId })).testdrive;
  }

  /** Watches a testdrive's machine, through the Worker and the agent. */
  async watch(drive: { url: string }): Promise<Viewer> {
    const wire = await until("the relay is open", 60, () =>
      relayWire(`${drive.url.replace(/^http/, "ws")}/socket`).catch(() => undefined),
    );
    return await openViewer(wire);
  }

  /** The errors that the Worker has logged. The runtime's own messages have no second timestamp. */
  errors(): string[] {
    const lines = readFileSync(join(this.#stateDirectory, "worker.log"), "utf8").split("\n");
    return lines.filter((line) => /^\S+ error \d{4}-\S+ /.test(line));
  }

  /** The names of the tables of each Durable Object of a class that has any. */
  tablesOf(className: string): string[][] {
    const folder = join(this.#stateDirectory, "worker/do", className);
    const files = readdirSync(folder).filter((name) => /^[\da-f]{64}\.sqlite$/.test(name));
    return files.map((name) => tablesIn(join(folder, name))).filter((tables) => tables.length > 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent?.[Symbol.asyncDispose]();
    await this.#worker?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function tablesIn(file: string): string[] {
  using database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  return rows.map(({ name }) => String(name));
}
