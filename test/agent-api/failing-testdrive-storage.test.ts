import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, vi } from "vitest";
import { attemptHeader, TestdriveClaimAnswer, type ClaimOnce, type TestdriveClaim } from "#lib/contract/index";
import type { TestdriveState } from "#domain/testdrives/machine";
import { testdrives } from "#storage/schema";
import { eq } from "drizzle-orm";
import { sent } from "../api/every-call/send.ts";
import { signedIn, type Client } from "../support/client.ts";
import { stopClock } from "../support/clock.ts";
import { Failed, insist, survivesEveryFailure, type Run, type Service } from "../support/every-failure.ts";
import { fakeAgent, type FakeAgent } from "../support/fake-agent.ts";
import { unharmed } from "../support/storage-faults.ts";
import { bootableBuild, db, dial, objectOf, report, until, wireOf, type Wire } from "../support/testdrives.ts";
import { readXml } from "../support/xml.ts";

// Makes each storage call of a testdrive fail, from its user's request to its end.

let agent: FakeAgent;
beforeAll(async () => {
  agent = await fakeAgent();
});

/** The session has ended. */
const isOver = (error: unknown) => error instanceof Failed && error.status === 410;

/** A testdrive, its user, and its agent. Both retry failed calls as real ones do. */
class DriveRun implements Run {
  step = "start";
  readonly #user: Client;
  readonly #buildId: number;
  /** The claims that the agent got, by testdrive. */
  readonly #claims = new Map<number, TestdriveClaim>();
  #id = 0;
  #control: Wire | undefined;

  constructor(user: Client, buildId: number) {
    this.#user = user;
    this.#buildId = buildId;
  }

  async toTheEnd(): Promise<void> {
    for (;;) {
      this.step = "start";
      this.#id = 0;
      this.#control = undefined;
      const claim = await this.#started();
      if (await this.#use(claim).catch((error: unknown) => !isOver(error) && Promise.reject(error))) return;
    }
  }

  async expectWhole(outage?: Service): Promise<void> {
    for (let n = 0; n < 60 && (await this.#states()).some((state) => state !== "ended"); n += 1) await this.#tick();
    const states = await this.#states();
    expect(states).toEqual(states.map(() => "ended"));
    expect(await this.#cause()).toBe("stopped");
    // An agent that cannot reach any object during a whole lease has lost its session. Its user then starts a new one.
    if (outage !== "object") expect(this.#claims.size).toBe(1);
  }

  /** The user repeats the request until there is a session. The agent polls until it has that session. */
  async #started(): Promise<TestdriveClaim> {
    const [claim] = await Promise.all([this.#claimed(), this.#posted()]);
    return claim;
  }

  async #posted(): Promise<void> {
    for (let key = crypto.randomUUID(); this.#id === 0;) {
      const path = `/testdrives?build_id=${this.#buildId}`;
      const answer = await sent({ method: "POST", path, credentials: this.#user, key });
      if (answer.ok) this.#id = Number((await readXml(answer)).testdrive.id);
      else {
        const text = await answer.text();
        if (text.includes("no_build_slots")) key = crypto.randomUUID();
        else if (answer.status < 500 && answer.status !== 409) throw new Failed("start", answer.status, text);
        await this.#tick();
      }
    }
  }

  async #claimed(): Promise<TestdriveClaim> {
    let once: ClaimOnce = { nonce: crypto.randomUUID() };
    for (let n = 0; n < 5_000; n += 1) {
      const known = this.#claims.get(this.#id);
      if (known) return known;
      const answer = await agent.call("POST", "/testdrives/claim", { json: { vnc: null, ...once } });
      if (answer.ok) {
        const { testdrive } = TestdriveClaimAnswer.parse(await answer.json());
        if (testdrive) this.#claims.set(testdrive.testdriveId, testdrive);
        once = { nonce: crypto.randomUUID() };
        await scheduler.wait(5);
        // Otherwise, an outage would end only after the user's request has given up.
        if (n % 20 === 19) await this.#tick();
      } else {
        once = { ...once, isRepeated: true };
        await this.#tick();
      }
    }
    throw new Error("its agent never gets it");
  }

  async #use({ testdriveId, token }: TestdriveClaim): Promise<true> {
    const headers = { authorization: `Bearer ${agent.token}`, [attemptHeader]: token };
    const path = `/agent/testdrives/${testdriveId}/control`;
    const control = (this.#control = wireOf(await this.#insist("control", () => dial(path, headers))));
    await this.#reports(control, "ready", { type: "ready" });
    await this.#reports(control, "alive", { type: "alive" });
    await this.#insist("stop", () => this.#user.delete(`/testdrives/${testdriveId}`));
    return true;
  }

  /** Waits until the object has the report, which is stored without D1. */
  async #reports(control: Wire, step: string, what: Parameters<typeof report>[1]): Promise<void> {
    this.step = step;
    await this.#tick();
    report(control, what);
    const now = Date.now();
    await until(async () => {
      const state = await this.#state();
      return state?.status === "ended" || (state && "agentHeardAt" in state && state.agentHeardAt >= now)
        ? true
        : undefined;
    });
  }

  async #insist(step: string, call: () => Promise<Response>): Promise<Response> {
    this.step = step;
    return await insist(step, call, () => this.#tick());
  }

  async #tick(): Promise<void> {
    vi.setSystemTime(Date.now() + 2_000);
    if (this.#control?.socket.readyState === WebSocket.OPEN) report(this.#control, { type: "alive" });
    await scheduler.wait(2); // until the object has it
    const stubs = await unharmed(async () => (await this.#rows()).map(objectOf));
    for (const stub of stubs) await runDurableObjectAlarm(stub);
  }

  #rows = () => db.select().from(testdrives).where(eq(testdrives.accountId, this.#user.accountId));

  #states = async () => (await this.#rows()).map(({ state }) => state);

  #state(): Promise<TestdriveState | undefined> {
    return unharmed(async () => {
      const row = (await this.#rows()).find(({ id }) => id === this.#id);
      return await runInDurableObject(
        objectOf(row ?? { uid: "" }),
        (_, { storage }) => storage.kv.get<{ state: TestdriveState }>("session")?.state,
      );
    });
  }

  async #cause(): Promise<string> {
    const state = await this.#state();
    return state?.status === "ended" ? state.cause : "live";
  }
}

describe("a testdrive", () => {
  survivesEveryFailure({
    steps: ["start", "control", "ready", "alive", "stop"],
    begin: async () => {
      stopClock();
      const user = await signedIn();
      return new DriveRun(user, (await bootableBuild(user)).id);
    },
  });
});
