import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { restClient, type RestClient } from "../test/acceptance/support/rest.ts";
import { startService, type Service } from "../test/acceptance/support/service.ts";

export type Stop = () => void | Promise<void>;

/** Limits that are enough for all sessions of a run, because an ended session frees its slot with a delay. */
const largeLimits = {
  MAX_BUILDS: "64",
  MAX_BUILDS_PER_ACCOUNT: "64",
  MAX_TESTDRIVES: "64",
  MAX_TESTDRIVES_PER_ACCOUNT: "64",
};

/** The agent's settings: limits higher than any measurement needs, and no background work unless it is measured. */
const agentKeys = { KILN_AGENT_TESTDRIVE_SLOTS: "64", KILN_AGENT_SNAPSHOTS: "off" };

/** The services and folders of a run. They are removed at the end of the run. */
export class Place implements AsyncDisposable {
  readonly say: (line: string) => void;
  readonly #stops: Stop[] = [];
  #withAgent: Promise<Service> | undefined;
  #image: Promise<BuiltImage> | undefined;

  constructor(say: (line: string) => void) {
    this.say = say;
  }

  /**
   * Starts a new service with its state below `parent`. The caller may stop it. Otherwise it is stopped with the place.
   */
  async start(options: string[] = [], parent = tmpdir(), agent: Record<string, string> = {}): Promise<Service> {
    const before = { ...process.env };
    Object.assign(process.env, agentKeys, agent, { TMPDIR: parent });
    // startService creates the state directory and reads the environment before its first await.
    const starting = startService(options, largeLimits);
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
    const service = await starting;
    this.#stops.push(service.stop);
    return service;
  }

  /** The service with an agent that the measurements share. */
  withAgent(): Promise<Service> {
    return (this.#withAgent ??= this.start());
  }

  /** A finished disk image of the shared service. */
  image(): Promise<BuiltImage> {
    return (this.#image ??= this.withAgent().then((service) => this.imageOf(service)));
  }

  /** An empty folder, usually on the disk of the services' states. */
  folder(parent = tmpdir()): string {
    const path = mkdtempSync(join(parent, "kiln-bench-"));
    this.#stops.push(() => rmSync(path, { recursive: true, force: true }));
    return path;
  }

  /** Stops something else with the place. */
  atEnd(stop: Stop): void {
    this.#stops.push(stop);
  }

  /** A finished disk image of a service. */
  async imageOf(service: Service): Promise<BuiltImage> {
    const client = restClient(service.ready());
    const applianceId = await cloneJeos(client);
    this.say("building an image to boot");
    const buildId = await postBuild(client, applianceId);
    await finished(client, buildId);
    return { service, client, applianceId, buildId };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (let stop = this.#stops.pop(); stop !== undefined; stop = this.#stops.pop()) await stop();
  }
}

export interface BuiltImage {
  service: Service;
  client: RestClient;
  applianceId: string;
  buildId: string;
}

/** Creates the appliance of the README's first example, and returns its id. */
export async function cloneJeos(client: RestClient): Promise<string> {
  const jeos = await jeosTemplate(client);
  const { appliance } = await client.call("POST", "/appliances", { clone_from: jeos, arch: "x86_64" });
  await client.call("POST", `/appliances/${appliance.id}/cmd/add_package`, { name: "hello" });
  return appliance.id;
}

/** Returns the id of the template for all appliances. */
export async function jeosTemplate(client: RestClient): Promise<string> {
  const { template_sets: sets } = await client.call("GET", "/template_sets");
  return sets.template_set[0].template.find(({ name }: { name: string }) => name.includes("JeOS")).appliance_id;
}

export async function postBuild(
  client: RestClient,
  applianceId: string,
  asked: Record<string, string> = { image_type: "oem" },
): Promise<string> {
  return (await client.call("POST", "/running_builds", { appliance_id: applianceId, ...asked, force: 1 })).build.id;
}

/** Waits until a build has finished. Throws if it fails. */
export async function finished(client: RestClient, buildId: string): Promise<void> {
  const last = (await client.watchBuild(buildId, 900)).at(-1);
  if (last?.state !== "finished") throw new Error(`build ${buildId} is ${last?.state}: ${last?.message}`);
}
