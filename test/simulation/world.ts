import { createAgent } from "#domain/agent";
import type { Check, Moment } from "./check.ts";
import { checks } from "./checks.ts";
import { faults } from "./faults.ts";
import { Host } from "./host/agent.ts";
import { useNetwork } from "./host/ws.ts";
import type { Outcome, Step, Violation } from "./report.ts";
import { setFates, type Actor, type Fate } from "./runtime/actors.ts";
import { beginning, clock } from "./runtime/clock.ts";
import { seedChance } from "./runtime/globals.ts";
import { Network } from "./runtime/network.ts";
import { saveAll } from "./runtime/object-storage.ts";
import type { Service } from "./runtime/service.ts";
import { sessions } from "./sessions.ts";
import { requests, Users } from "./users.ts";
import { witness } from "./witness.ts";

/** The builds must have ended this long after the last step. */
const patienceMs = 60 * 60_000;
/** Objects clean up after a build has ended. */
const tidyMs = 3 * 60_000;
const hostCount = 2;
const lookEveryMs = 2_000;
/** The times of the sweep after the end. It keeps young objects, so it runs again when they are old enough. */
const cleaningHours = [2, 26, 28];

/** One service with its agents and users, from a seed to the end. */
export class World {
  readonly service: Service;
  readonly network: Network;
  readonly hosts: Host[] = [];
  readonly users: Users;
  /**
   * Faults that wait for a call of the service: they happen after this many calls by actors whose names contain `of`.
   */
  strikes: { fate: Fate; calls: number; of: string }[] = [];
  readonly story: string[] = [];
  #slowUntil = 0;
  /** Whether nothing fails in this plan. */
  isCalm = false;
  /** Whether any user or agent works, and the sweep runs. */
  #isWatched = true;
  readonly #awayUntil = new Map<string, number>();

  constructor(service: Service) {
    this.service = service;
    this.network = new Network(service);
    this.users = new Users(service);
  }

  async run(seed: number, plan: readonly Step[]): Promise<Outcome> {
    await this.#prepare(seed);
    this.isCalm = plan.every(({ what }) => !(what in faults));
    for (const step of plan) clock.after(step.at * 1000, () => this.#perform(step));
    const lastAt = beginning + 1000 * Math.max(0, ...plan.map(({ at }) => at));
    const violation = (await this.#untilOver(lastAt)) ?? (await this.#dayLater());
    const [builds = 0, testdrives = 0] = ["builds", "testdrives"].map((table) =>
      Number(this.service.database.query(`SELECT count(*) AS n FROM ${table}`)[0]?.["n"]),
    );
    this.service.restart();
    for (const { process } of this.hosts) process?.die();
    await clock.settle(); // otherwise, whatever they do when they die would be part of the next simulation
    const { story } = this;
    const facts = { story, builds, testdrives, attempts: witness.claims, simulatedMs: clock.now - beginning };
    return violation ? { ...facts, violation } : facts;
  }

  isCut(agent: string): boolean {
    const process = this.hosts.find(({ name }) => name === agent)?.process;
    return process === undefined || this.network.cut.has(process);
  }

  /** Whether D1 or R2 is unavailable, without which an agent cannot claim. */
  get isAway(): boolean {
    return [...this.#awayUntil.values()].some((until) => until > clock.now);
  }

  record(line: string): void {
    this.story.push(`${((clock.now - beginning) / 1000).toFixed(2).padStart(9)}  ${line}`);
  }

  /** Makes calls to this platform service fail for a time. */
  failFor(what: string, ms: number): void {
    this.#awayUntil.set(what, clock.now + ms);
  }

  slowFor(ms: number): void {
    this.#slowUntil = clock.now + ms;
  }

  /** Cancels the faults that have not happened yet. */
  #calm(): void {
    this.strikes = [];
    for (const { mishaps } of [this.service.jobs, this.service.imports]) mishaps.length = 0;
    this.network.lostAnswers = { end: 0, claim: 0 };
  }

  async #prepare(seed: number): Promise<void> {
    this.service.reset();
    clock.reset();
    seedChance(seed);
    witness.begin(seed);
    sessions.begin();
    setFates({ latencyMs: () => 1, fateOf: () => undefined });
    useNetwork(this.network);
    const fetch = (url: string, init: RequestInit) =>
      url.startsWith("http://kiln/") ? this.network.fetch(url, init) : this.users.fetch(url, init);
    Object.assign(globalThis, { fetch });
    const { db, env } = this.service;
    const prepared = (async () => {
      await this.users.prepare(db);
      for (let n = 1; n <= hostCount; n += 1) {
        const { token } = await createAgent(db, env.API_KEY_PEPPER, `host${n}`);
        const host = new Host(`host${n}`, token);
        host.log = (line) => this.record(line);
        this.hosts.push(host);
      }
    })();
    await Promise.all([prepared, this.#stepUntil(() => this.hosts.length === hostCount, beginning + 60_000)]);
    setFates({
      latencyMs: () => (clock.now < this.#slowUntil ? Math.random() * 2_000 : 1 + Math.random() * 9),
      fateOf: (actor, what) => this.#fateOf(actor, what),
    });
    this.service.jobs.travelMs = () => 10 + Math.random() * 300;
    for (const host of this.hosts) host.start();
    this.#everyMinute();
    this.#look();
  }

  /** Some checks are about durations. */
  #look(): void {
    clock.after(lookEveryMs, () => {
      if (!this.#isWatched) return;
      this.service.database.isChanged = true;
      this.#look();
    });
  }

  #everyMinute(): void {
    clock.after(60_000, () => {
      if (!this.#isWatched) return;
      void this.service.sweep();
      this.#everyMinute();
    });
  }

  #fateOf(actor: Actor | undefined, what: string): Fate | undefined {
    if (actor?.kind !== "object" && actor?.kind !== "request") return undefined;
    for (const [name, until] of this.#awayUntil) if (until > clock.now && what.includes(name)) return "fails";
    // Most calls are by idle agents.
    const strike = actor.name.includes("/queues/") ? undefined : this.strikes.find(({ of }) => actor.name.includes(of));
    if (!strike) return undefined;
    strike.calls -= 1;
    if (strike.calls >= 0) return undefined;
    this.strikes.splice(this.strikes.indexOf(strike), 1);
    this.record(`strike: ${strike.fate}, ${actor.name}: ${what}`);
    return strike.fate;
  }

  #perform({ what, pick }: Step): void {
    this.record(`step: ${what}`);
    requests[what]?.(this.users, pick);
    faults[what]?.(this, pick);
  }

  async #untilOver(lastAt: number): Promise<Violation | undefined> {
    const deadline = lastAt + patienceMs;
    let endedAt = Infinity;
    for (;;) {
      const isRunning = await clock.step(deadline);
      saveAll();
      const violation = this.#violationOf("step");
      if (violation) return violation;
      if (!isRunning) return this.#violationOf("end");
      if (clock.now <= lastAt) continue;
      if (clock.now > lastAt + tidyMs) this.#calm();
      if (!this.#isOver()) endedAt = Infinity;
      else if (endedAt === Infinity) endedAt = this.#agentsLeave();
      else if (clock.now > endedAt + tidyMs && !this.users.importers.areBusy) return this.#violationOf("end");
    }
  }

  /** Stops the agents, whose polls without work would take most of the time. Returns the current time. */
  #agentsLeave(): number {
    for (const { process } of this.hosts) process?.die();
    return clock.now;
  }

  /** All agents have gone, and nothing fails any more. */
  async #dayLater(): Promise<Violation | undefined> {
    this.#calm();
    const overAt = this.#agentsLeave();
    this.#isWatched = false;
    for (const hours of cleaningHours) {
      const at = overAt + hours * 3_600_000;
      clock.after(at - clock.now, () => void this.service.sweep("cleaning"));
      while (await clock.step(at + 60_000)) saveAll();
    }
    return this.#violationOf("a day later");
  }

  #isOver(): boolean {
    const [open] = this.service.database.query(
      `SELECT EXISTS (SELECT 1 FROM builds WHERE status IN ('queued', 'running')) OR
              EXISTS (SELECT 1 FROM testdrives WHERE state <> 'ended') AS n`,
    );
    const isWorking =
      witness.running.size + sessions.running.size + this.users.waiting + this.users.uploaders.open.size > 0;
    return Number(open?.["n"]) === 0 && !isWorking;
  }

  #violationOf(moment: Moment): Violation | undefined {
    const { database } = this.service;
    const isDue = ({ when }: Check) =>
      when === "always" || (when === moment && (moment !== "step" || database.isChanged));
    for (const check of checks.filter(isDue)) {
      const [what] = check.violations(this);
      if (what !== undefined) return { check: check.name, what, at: clock.now - beginning };
    }
    if (moment === "step") database.isChanged = false;
    return undefined;
  }

  async #stepUntil(isDone: () => boolean, until: number): Promise<void> {
    while (!isDone() && (await clock.step(until))) saveAll();
  }
}
