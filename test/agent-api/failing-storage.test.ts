import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { artifactNames, heartbeatEveryMs } from "#contract/index";
import type { BuildState } from "#domain/builds/machine";
import { objectOfBuild, rowOfBuild } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, capabilities, fakeAgent, type Attempt, type FakeAgent } from "../support/fake-agent.ts";
import { fileStoreOf } from "../support/file-store.ts";
import { away, withFate } from "../support/storage-faults.ts";

/**
 * Each storage call that a build makes, from its agent's hello to its end, fails: once instead of being done, once after it was done,
 * and for 40 s (objects: 20 s). The calls are those that a good run makes.
 */

const store = fileStoreOf({});
const files = { image: bytesOf("an image"), files: store.files, "files-index": store.index };
const incarnation = { host: "a".repeat(32), start: 1 };

let tux: Client;
let applianceId: number;
let agent: FakeAgent;
beforeAll(async () => {
  tux = await signedIn();
  applianceId = await createAppliance(tux);
  agent = await fakeAgent();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A build and its agent, which repeats what fails as a real one does. */
class Run {
  readonly buildId: number;
  /** What the agent does at the moment. */
  step = "";
  readonly #object: Awaited<ReturnType<typeof objectOfBuild>>;
  #attempt: Attempt | undefined;
  #beatAt = 0;

  constructor(buildId: number, object: Awaited<ReturnType<typeof objectOfBuild>>) {
    this.buildId = buildId;
    this.#object = object;
  }

  async toTheEnd(): Promise<void> {
    await this.#hello("hello");
    const attempt = await this.#claim();
    await this.#insist("heartbeat", () => attempt.beats());
    await this.#insist("log", () => attempt.writesLog(0, "a line\n"));
    for (const name of artifactNames) {
      const [bytes, fileName] = [files[name], `${name}.bin`];
      await this.#insist("open", () => attempt.call(`artifacts/${name}`, { size: bytes.byteLength, fileName }));
      await this.#insist("part", () => attempt.sendsPart(1, bytes, { name }));
      await this.#insist("complete", () => attempt.completesUpload(bytes, name));
    }
    await this.#hello("late hello");
    await this.#insist("finish", () => attempt.finishes());
  }

  /** Time passes until D1 knows the end. */
  async untilKnown(): Promise<void> {
    for (let n = 0; n < 60 && (await rowOfBuild(this.buildId)).status !== "finished"; n += 1) await this.#tick();
  }

  state(): Promise<BuildState | undefined> {
    return runInDurableObject(this.#object, (_, { storage }) => storage.kv.get<BuildState>("state"));
  }

  #hello(step: string): Promise<Response> {
    return this.#insist(step, () => agent.call("POST", "/hello", { json: { capabilities, incarnation } }));
  }

  async #claim(): Promise<Attempt> {
    this.step = "claim";
    let nonce = crypto.randomUUID();
    let isRepeated = {};
    for (;;) {
      const claim = await agent.claims({ incarnation, nonce, ...isRepeated }).catch(() => "lost" as const);
      if (claim && claim !== "lost") return (this.#attempt = claim);
      isRepeated = claim === "lost" ? { isRepeated: true } : {};
      if (claim !== "lost") nonce = crypto.randomUUID();
      await this.#tick();
    }
  }

  async #insist(step: string, call: () => Promise<Response>): Promise<Response> {
    for (let n = 0; n < 60; n += 1) {
      this.step = step;
      const answer = await call();
      if (answer.ok) return answer;
      if (answer.status < 500) throw new Error(`${step}: ${answer.status} ${await answer.text()}`);
      await this.#tick();
    }
    throw new Error(`${step} fails for ever`);
  }

  async #tick(): Promise<void> {
    const step = this.step;
    vi.setSystemTime(Date.now() + 2_000);
    if (this.#attempt && Date.now() - this.#beatAt >= heartbeatEveryMs) {
      this.#beatAt = Date.now();
      await this.#attempt.beats();
    }
    await runDurableObjectAlarm(this.#object);
    this.step = step;
  }
}

async function startedRun(): Promise<Run> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const buildId = await startBuild(tux, applianceId);
  return new Run(buildId, await objectOfBuild(buildId));
}

const attemptsLost = () =>
  env.DB.prepare("SELECT coalesce(sum(value), 0) AS n FROM counters WHERE name = 'attempts_lost'").first<number>("n");

/** Which calls a run makes, each once per step. */
async function callsOf(run: Run): Promise<string[]> {
  const calls = new Set<string>();
  await withFate(
    async (name, call) => {
      calls.add(`${run.step}: ${name}`);
      return await call();
    },
    () => run.toTheEnd(),
  );
  return [...calls];
}

async function expectNoLoss(run: Run): Promise<void> {
  await run.untilKnown();
  const [row, state] = [await rowOfBuild(run.buildId), await run.state()];
  expect([row.status, state?.status]).toEqual(["finished", "finished"]);
  expect(row.imageKey).toMatch(new RegExp(`/image-${state?.attempt}$`));
  expect(await attemptsLost()).toBe(0);
}

/** An object that no call reaches for a whole lease cannot tell that from a silent agent. */
const outageMs: Record<string, number> = { D1: 40_000, R2: 40_000, object: 20_000 };

/** How the call that is next in turn fails. */
const kinds = {
  "instead of being done": () => async (name: string) => away(name),
  "after it was done": () => async (name: string, call: () => Promise<unknown>) => {
    await call();
    away(name);
  },
};

const steps = ["hello", "claim", "heartbeat", "log", "open", "part", "complete", "late hello", "finish"];

/** The queue's consumer and alarms call on their own, so a single call may not come again; but some of each step do. */
function expectAllSteps(failed: readonly string[]): void {
  expect([...new Set(failed.map((call) => call.split(": ")[0]))].toSorted()).toEqual(steps.toSorted());
}

it.each(Object.entries(kinds))("survives that any call fails once, %s", async (_, kind) => {
  const failed: string[] = [];
  for (const wanted of await callsOf(await startedRun())) {
    const run = await startedRun();
    let hasFailed = false;
    await withFate(
      async (name, call) => {
        if (hasFailed || `${run.step}: ${name}` !== wanted) return await call();
        hasFailed = true;
        return await kind()(name, call);
      },
      () => run.toTheEnd(),
    ).catch((error: unknown) => Promise.reject(new Error(wanted, { cause: error })));
    if (hasFailed) failed.push(wanted);
    await expectNoLoss(run);
  }
  expectAllSteps(failed);
});

it("survives that D1, R2 or objects fail for a while, from any call on", async () => {
  const failed: string[] = [];
  for (const wanted of await callsOf(await startedRun())) {
    const run = await startedRun();
    const [service = ""] = wanted.split(": ")[1]?.split(" ") ?? [];
    let until = 0;
    await withFate(
      async (name, call) => {
        if (until === 0 && `${run.step}: ${name}` === wanted) until = Date.now() + (outageMs[service] ?? 0);
        return name.startsWith(`${service} `) && Date.now() < until ? away(name) : await call();
      },
      () => run.toTheEnd(),
    ).catch((error: unknown) => Promise.reject(new Error(wanted, { cause: error })));
    if (until > 0) failed.push(wanted);
    await expectNoLoss(run);
  }
  expectAllSteps(failed);
});
