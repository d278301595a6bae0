import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { restClient, RestRefusal, type RestClient } from "../../test/acceptance/support/rest.ts";
import { cloneJeos } from "../place.ts";
import type { World } from "./world.ts";

const imageTypes = ["oem", "iso", "vmx", "xen"];
const accounts = 3;
/** The pause between two build requests, so that faults hit these, too. */
const pauseMs = 1_500;
/** One in this many builds gets a testdrive. */
const testdriveOf = 6;

export interface Build {
  client: RestClient;
  applianceId: string;
  imageType: string;
  id: string;
  startedAt: number;
  /** Undefined until it has ended. */
  end?: { at: number; state: string; message: string };
}

export interface Testdrive {
  id: string;
  buildId: string;
  result: "seen running, then stopped" | "ended" | "never ready" | "not stopped";
  message: string;
}

/** Sends the requests of the service's users, and records the results. */
export class Work {
  readonly builds: Build[] = [];
  readonly testdrives: Testdrive[] = [];
  readonly clients: RestClient[] = [];
  readonly #wanted: Pick<Build, "client" | "applianceId" | "imageType">[] = [];
  #watched: Promise<void>[] = [];

  /** Creates accounts and appliances for this many builds. */
  static async prepare(world: World, count: number): Promise<Work> {
    const work = new Work();
    for (let n = 1; n <= accounts; n += 1) {
      const username = `chaos${n}`;
      const { apiKey } = await world.admin.addAccount({ username, email: `${username}@example.org` });
      work.clients.push(restClient({ url: world.url, username, api_key: apiKey, agent_pid: null }));
    }
    for (let nth = 0; nth < count; nth += 1) {
      const [client, imageType] = [work.clients[nth % accounts], imageTypes[nth % imageTypes.length]];
      if (client && imageType) work.#wanted.push({ client, applianceId: await cloneJeos(client), imageType });
    }
    return work;
  }

  get ended(): Build[] {
    return this.builds.filter(({ end }) => end !== undefined);
  }

  get asked(): number {
    return this.#wanted.length;
  }

  /** Sends all requests, and waits until everything has ended or `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    for (const wanted of this.#wanted) {
      if (signal.aborted) break;
      const startedAt = Date.now();
      const { applianceId: appliance_id, imageType: image_type } = wanted;
      const params = { appliance_id, image_type };
      const answer = await once(wanted.client, "/running_builds", params, signal);
      const build: Build = { ...wanted, id: answer.build.id, startedAt };
      this.builds.push(build);
      const nth = this.builds.length;
      this.#watched.push(this.#watch(build, { isBooted: nth % testdriveOf === 1, signal }));
      await sleep(pauseMs);
    }
    await Promise.all(this.#watched);
  }

  async #watch(build: Build, { isBooted, signal }: { isBooted: boolean; signal: AbortSignal }): Promise<void> {
    const { client, id } = build;
    while (!build.end && !signal.aborted) {
      await sleep(2_000);
      const answer = await insist(() => client.call("GET", `/running_builds/${id}`), signal);
      const { state, message } = answer.running_build;
      if (finalStates.has(state)) build.end = { at: Date.now(), state, message };
    }
    if (isBooted && build.end?.state === "finished") this.testdrives.push(await boot(build, signal));
  }
}

const finalStates = new Set(["finished", "failed", "error", "cancelled"]);

/** Starts a testdrive, waits until it runs, and stops it. */
async function boot({ client, id: buildId }: Build, signal: AbortSignal): Promise<Testdrive> {
  const { testdrive } = await once(client, "/testdrives", { build_id: buildId }, signal);
  const { id, url } = testdrive;
  const look = () =>
    insist(async () => (await (await fetch(`${url}/state`)).json()) as { state: string; message: string }, signal);
  const until = async (isSeen: (state: string) => boolean, atMostMs: number) => {
    for (const endsAt = Date.now() + atMostMs; Date.now() < endsAt && !signal.aborted; await sleep(1_000)) {
      const seen = await look();
      if (isSeen(seen.state)) return seen;
    }
    return undefined;
  };
  const ready = await until((state) => state === "running" || state === "ended", 240_000);
  if (!ready) return { id, buildId, result: "never ready", message: "" };
  if (ready.state === "ended") return { id, buildId, result: "ended", message: ready.message };
  await sleep(5_000);
  await insist(() => client.call("DELETE", `/testdrives/${id}`), signal);
  const stopped = await until((state) => state === "ended", 60_000);
  return {
    id,
    buildId,
    result: stopped ? "seen running, then stopped" : "not stopped",
    message: stopped?.message ?? "",
  };
}

/**
 * A POST that takes effect once, however often the service fails, because each repetition has the same Idempotency-Key.
 */
async function once(client: RestClient, path: string, params: Record<string, string>, signal: AbortSignal) {
  let key = randomUUID();
  return await insist(async () => {
    try {
      return await client.call("POST", path, params, { "idempotency-key": key });
    } catch (error) {
      // The request was refused, so it has no effect. It can be sent again later with a new key.
      if (error instanceof RestRefusal && error.message.includes("no_build_slots")) {
        key = randomUUID();
        await sleep(5_000);
        throw new RestRefusal(path, 503, error.message);
      }
      throw error;
    }
  }, signal);
}

/** Repeats a call while the service is down, fails, or is still working on it. */
async function insist<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isFinal = error instanceof RestRefusal && error.status < 500 && ![409, 429].includes(error.status);
      if (isFinal || signal.aborted) throw error;
      await sleep(1_000);
    }
  }
}
