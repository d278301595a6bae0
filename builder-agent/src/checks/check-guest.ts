import { setTimeout as sleep } from "node:timers/promises";
import { isUsedBy, kindsOfChecks, type Check, type CheckReport, type CheckResult } from "../contract.ts";
import { orAborted } from "../mutex.ts";
import type { Accel } from "../sandbox.ts";
import { takeScreen } from "../snapshot/take-screen.ts";
import { qemusBelow } from "../testdrive/orphans.ts";
import { switchedOff, type Qemu } from "../testdrive/qemu.ts";
import type { SessionDir } from "../testdrive/session-dir.ts";
import { GuestClock } from "./guest-clock.ts";
import { GuestConsole } from "./guest-console.ts";
import { untilLogin, ways, type Guest, type Seen } from "./kinds.ts";

/** How many seconds of an emulated guest count as one. */
const emulatedSlowness = 5;
/** How long the login prompt is waited for if no check says it. */
const usualSeconds = 300;
/** Services that start together with the prompt get this time, too. */
const settleMs = 2_000;

/** The ports of the guest that the checks need, each once. */
export const portsOf = (checks: readonly Check[]): number[] => [
  ...new Set(checks.filter(({ kind }) => kindsOfChecks[kind].needsNetwork).map(({ port }) => port)),
];

export interface CheckedMachine {
  checks: readonly Check[];
  dir: SessionDir;
  testdriveId: number;
  accel: Accel;
  /** Aborted when the session ends. */
  signal: AbortSignal;
}

/** The checks of a machine. Make it before the machine starts, and dispose of it after the report. */
export class GuestChecks implements Disposable {
  readonly #machine: CheckedMachine;
  readonly #clock: GuestClock;
  readonly #console: GuestConsole;
  #loginAt: number | undefined;

  constructor(machine: CheckedMachine) {
    this.#machine = machine;
    this.#clock = new GuestClock(async () => (await qemusBelow(machine.dir.path))[0]);
    const texts = machine.checks.filter(({ kind }) => isUsedBy(kind, "text")).map(({ text }) => text);
    this.#console = new GuestConsole({ texts, onLogin: () => (this.#loginAt = this.#clock.seconds) });
  }

  get onConsole(): (chunk: Buffer) => void {
    return this.#console.take;
  }

  [Symbol.dispose](): void {
    this.#clock[Symbol.dispose]();
    this.#console[Symbol.dispose]();
  }

  /** Rejects if nothing can be said about the image, because the host or QEMU failed. */
  async report(qemu: Qemu): Promise<CheckReport> {
    const { checks, dir, testdriveId, accel, signal } = this.#machine;
    const over = new AbortController();
    const guest = this.#guestOf(qemu, AbortSignal.any([signal, over.signal]));
    void noteEnd(qemu, guest, over);
    const results = await orAborted(this.#resultsOf(checks, guest), guest.signal);
    const screen = guest.isOff ? undefined : await takeScreen(qemu, { dir, testdriveId }).catch(() => undefined);
    return {
      results,
      loginSeconds: this.#loginAt ?? null,
      isEmulated: accel === "tcg",
      console: this.#console.end,
      screen: screen?.toString("base64") ?? null,
    };
  }

  #guestOf(qemu: Qemu, signal: AbortSignal): Guest {
    const loginAt = () => this.#loginAt;
    return {
      qemu,
      console: this.#console,
      clock: this.#clock,
      slowness: this.#machine.accel === "tcg" ? emulatedSlowness : 1,
      get loginAt() {
        return loginAt();
      },
      isOff: false,
      signal,
    };
  }

  async #resultsOf(checks: readonly Check[], guest: Guest): Promise<CheckResult[]> {
    const look = async (check: Check): Promise<CheckResult> => {
      const seen: Seen = await ways[check.kind].look(check, guest);
      return { ...seen, seconds: this.#clock.seconds };
    };
    const first = checks.map((check) => (ways[check.kind].isLast ? undefined : look(check)));
    await Promise.all(first);
    if (first.includes(undefined)) await settle(checks, guest);
    // The last checks one after the other: each reads all open connections.
    const results: CheckResult[] = [];
    for (const [index, check] of checks.entries()) results.push((await first[index]) ?? (await look(check)));
    return results;
  }
}

async function noteEnd(qemu: Qemu, guest: Guest, over: AbortController): Promise<void> {
  const reason = await qemu.ended;
  if (reason === switchedOff) guest.isOff = true;
  else over.abort(new Error(reason));
}

/** Waits until the machine has booted. */
async function settle(checks: readonly Check[], guest: Guest): Promise<void> {
  const login = checks.find(({ kind }) => kind === "login");
  if (await untilLogin(guest, login?.seconds ?? usualSeconds))
    await sleep(settleMs * guest.slowness, undefined, { signal: guest.signal });
}
