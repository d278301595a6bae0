import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, describe, expect, vi } from "vitest";
import { artifactNames, heartbeatEveryMs } from "#lib/contract/index";
import type { BuildState } from "#domain/builds/machine";
import { attemptsLost, objectOfBuild, rowOfBuild } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, capabilities, fakeAgent, type Attempt, type FakeAgent } from "../support/fake-agent.ts";
import { fileStoreOf } from "../support/file-store.ts";
import { stopClock } from "../support/clock.ts";
import { Failed, insist, survivesEveryFailure, type Run, type Service } from "../support/every-failure.ts";

// Makes each storage call of a build fail, from its agent's hello to its end.

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

/** Whether another attempt has the build. */
const isLost = (error: unknown) => error instanceof Failed && error.status === 410;

/** A build and its agent, which retries failed calls as a real agent does. */
class BuildRun implements Run {
  readonly buildId: number;
  /** The current step of the agent. */
  step = "";
  readonly #object: Awaited<ReturnType<typeof objectOfBuild>>;
  #attempt: Attempt | undefined;
  readonly #lostBefore: number;
  #beatAt = 0;

  constructor(buildId: number, object: Awaited<ReturnType<typeof objectOfBuild>>, lostBefore: number) {
    this.buildId = buildId;
    this.#object = object;
    this.#lostBefore = lostBefore;
  }

  async toTheEnd(): Promise<void> {
    await this.#hello("hello");
    for (;;) {
      const attempt = await this.#claim();
      if (await this.#work(attempt).catch((error: unknown) => !isLost(error) && Promise.reject(error))) return;
    }
  }

  async expectWhole(outage?: Service): Promise<void> {
    await this.#untilKnown();
    const [row, state] = [await rowOfBuild(this.buildId), await this.#state()];
    expect([row.status, state?.status]).toEqual(["finished", "finished"]);
    expect(row.imageKey).toMatch(new RegExp(`/image-${state?.attempt}$`));
    // If no call reaches an object during a whole lease, the object must assume that its agent is gone.
    expect((await attemptsLost()) - this.#lostBefore).toBeLessThanOrEqual(outage === "object" ? 1 : 0);
  }

  /** Returns false if the build was given to another attempt. */
  async #work(attempt: Attempt): Promise<true> {
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
    return true;
  }

  /** Passes time until D1 has recorded the end. */
  async #untilKnown(): Promise<void> {
    for (let n = 0; n < 60 && (await rowOfBuild(this.buildId)).status !== "finished"; n += 1) await this.#tick();
  }

  #state(): Promise<BuildState | undefined> {
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
    this.step = step;
    return await insist(step, call, () => this.#tick());
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

describe("a build", () => {
  survivesEveryFailure({
    steps: ["hello", "claim", "heartbeat", "log", "open", "part", "complete", "late hello", "finish"],
    begin: async () => {
      stopClock();
      const buildId = await startBuild(tux, applianceId);
      return new BuildRun(buildId, await objectOfBuild(buildId), await attemptsLost());
    },
  });
});
