import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { adminClient, type AdminClient } from "../../scripts/admin/client.ts";
import { readSecrets } from "../../scripts/launch/secrets.ts";
import { OwnAgent } from "../../test/acceptance/support/own-agent.ts";
import { newPlace, startService, type Service, type ServicePlace } from "../../test/acceptance/support/service.ts";
import { openTcpProxy, type TcpProxy } from "../../test/acceptance/support/tcp-proxy.ts";

const agentDiskMb = 1_600;
/** Small caches, because the disks are in memory. */
const agentKeys = {
  isolation: "none",
  minFreeGb: 0.3,
  packageCacheGb: 0.1,
  preparedGb: 0.3,
  cacheGb: 0.3,
  testdriveSlots: 2,
};
const limits = {
  MAX_BUILDS: "1000",
  MAX_BUILDS_PER_ACCOUNT: "1000",
  MAX_TESTDRIVES: "8",
  MAX_TESTDRIVES_PER_ACCOUNT: "4",
};

/** An agent, and the connection to the service that it uses. */
export interface Host {
  name: string;
  agent: OwnAgent;
  proxy: TcpProxy;
  token: string;
}

/** A whole service for this run, with real processes, its own state directory and its own agents. */
export class World implements AsyncDisposable {
  readonly hosts: Host[] = [];
  /** Hosts that used another host's token for a while. */
  readonly twins: Host[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), "kiln-chaos-"));
  readonly #place: ServicePlace;
  #service: Service;
  #isEnding = false;
  #printed = "";

  private constructor(place: ServicePlace, service: Service) {
    this.#place = place;
    this.#service = service;
  }

  static async start(agents: number): Promise<World> {
    const place = await newPlace();
    const world = new World(place, await startService(["--no-agent"], limits, {}, place));
    for (let n = 1; n <= agents; n += 1) {
      const { token } = await world.admin.addAgent(`chaos-${n}`);
      world.hosts.push(await world.addHost(`chaos-${n}`, token));
    }
    await Promise.all(world.hosts.map(({ agent }) => agent.start()));
    return world;
  }

  get all(): Host[] {
    return [...this.hosts, ...this.twins];
  }

  get url(): string {
    return `http://127.0.0.1:${this.#place.port}`;
  }

  get stateDir(): string {
    return this.#place.stateDir;
  }

  get servicePid(): number {
    return this.#service.pid;
  }

  get admin(): AdminClient {
    return adminClient(this.url, readSecrets(this.stateDir).ADMIN_SECRET ?? "");
  }

  /** Everything that the service's launchers have printed. */
  get printed(): string {
    return this.#printed + this.#service.output();
  }

  /** A host with its own disk. Its agent uses this token, and is not started yet. */
  async addHost(name: string, token: string): Promise<Host> {
    const folder = join(this.#folder, `${name}-${Date.now()}`);
    mkdirSync(folder);
    const proxy = await openTcpProxy(this.url);
    const agent = new OwnAgent(folder, { url: proxy.url, token, ...agentKeys }, agentDiskMb);
    return { name, agent, proxy, token };
  }

  /** Ends the launcher, and starts it again in its state directory. */
  async restartService(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    await this.#service.end(signal);
    this.#printed += this.#service.output();
    this.#service = await startService(["--no-agent"], limits, {}, this.#place);
  }

  /** Restarts agents that have ended, like systemd or the launcher on a real host. */
  async keepAgentsRunning(): Promise<void> {
    if (this.#isEnding) return;
    await Promise.all(this.hosts.map(({ agent }) => (agent.pid === undefined ? agent.start() : undefined)));
  }

  /** Stops agents and service, and keeps the state for the final checks. */
  async end(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    await Promise.all(this.all.map(({ agent }) => agent.kill("SIGTERM")));
    await this.#service.end("SIGTERM");
  }

  /** Stores the logs of agents and service, for finding the cause of a failure. */
  saveLogs(folder: string): void {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "service.log"), this.printed);
    const log = join(this.stateDir, "worker.log");
    if (existsSync(log)) copyFileSync(log, join(folder, "worker.log"));
    for (const [nth, { name, agent }] of this.all.entries()) {
      writeFileSync(join(folder, `agent-${nth + 1}-${name}.log`), agent.said);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    for (const { agent, proxy } of this.all) {
      await agent[Symbol.asyncDispose]();
      proxy[Symbol.dispose]();
    }
    await this.#service.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
