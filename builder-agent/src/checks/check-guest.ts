import { setTimeout as sleep } from "node:timers/promises";
import {
  completeCheck,
  isUsedBy,
  maxConsoleEnd,
  maxSeen,
  runCommands,
  sentenceOfCheck,
  type Check,
  type CheckReport,
  type CheckResult,
} from "../contract.ts";
import { orAborted } from "../mutex.ts";
import type { Accel } from "../sandbox.ts";
import { takeScreen } from "../snapshot/take-screen.ts";
import type { Qemu } from "../testdrive/qemu.ts";
import type { SessionDir } from "../testdrive/session-dir.ts";
import { Boot } from "./boot.ts";
import { off, untilLogin, type Guest, type Seen } from "./guest.ts";
import { ways, type RestartKind } from "./kinds.ts";
import { restarts, staysOn } from "./restarts.ts";

/** How long to wait for the login prompt if no check sets another time. */
const usualSeconds = 300;
/** Services that start together with the prompt get this time, too. */
const settleMs = 2_000;

export interface CheckedMachine {
  checks: readonly Check[];
  dir: SessionDir;
  testdriveId: number;
  accel: Accel;
  /** Aborted when the session ends. */
  signal: AbortSignal;
  /** The last screen of a build, as PNG. Undefined if there is none. */
  readScreen: (buildId: number) => Promise<Buffer | undefined>;
}

type RestartCheck = Check & { kind: RestartKind };
type LookCheck = Check & { kind: keyof typeof ways };

const isRestart = (check: Check): check is RestartCheck => check.kind in restarts;
const isLook = (check: Check): check is LookCheck => check.kind in ways;

interface MachineControl {
  /** Starts the machine again, with the disk that it has. */
  start: () => Promise<Qemu>;
  /** Keeps the machine as it is, for a testdrive, and ends it. Returns whether it is kept. */
  keep: (qemu: Qemu) => Promise<boolean>;
}

/** A running machine, and its current boot. */
interface Running {
  qemu: Qemu;
  guest: Guest;
}

/** The checks of a machine. Make it before the machine starts, and dispose of it after the report. */
export class GuestChecks implements Disposable {
  readonly #machine: CheckedMachine;
  /** The checks that each boot must pass: those of the appliance, or the login prompt if it has none. */
  readonly #each: readonly LookCheck[];
  readonly #boots: Boot[] = [];

  constructor(machine: CheckedMachine) {
    this.#machine = machine;
    const looks = machine.checks.filter(isLook);
    this.#each = looks.length > 0 ? looks : [completeCheck({ kind: "login" })].filter(isLook);
    this.#addBoot();
  }

  /** A bound function, because it is passed as a callback for QEMU's output. */
  readonly onConsole = (chunk: Buffer): void => this.#boots.at(-1)?.console.take(chunk);

  [Symbol.dispose](): void {
    for (const boot of this.#boots) boot[Symbol.dispose]();
  }

  /** Rejects if nothing was learned about the image, because the host or QEMU failed. */
  async report(qemu: Qemu, { start, keep }: MachineControl): Promise<CheckReport> {
    const { checks, accel } = this.#machine;
    await using started = new AsyncDisposableStack();
    const startAgain = async () => started.use(await start());
    let running = this.#running(qemu);
    const first = await this.#lookAt(running.guest);
    const restarted = new Map<Check, CheckResult>();
    for (const check of checks.filter(isRestart)) {
      const isReady = [...first, ...restarted.values()].every(hasPassed);
      const again = isReady ? await this.#restart(check, running, startAgain) : undefined;
      restarted.set(check, again?.result ?? this.#notRestarted(first));
      running = again?.running ?? running;
    }
    const looked = new Map<Check, CheckResult>(this.#each.map((check, index) => [check, first[index] ?? unknown]));
    const results = checks.map((check) => looked.get(check) ?? restarted.get(check) ?? unknown);
    const screen = await this.#screenOf(running);
    const isWorthALook = results.some(({ outcome }) => outcome === "failed") && !running.guest.isOff;
    return {
      results,
      loginSeconds: this.#boots[0]?.loginAt ?? null,
      isEmulated: accel === "tcg",
      console: this.#consoleEnd(),
      screen,
      isMachineKept: isWorthALook && (await keep(running.qemu)),
    };
  }

  #addBoot(): Boot {
    const { dir, accel, checks } = this.#machine;
    const texts = this.#each.filter(({ kind }) => isUsedBy(kind, "text")).map(({ text }) => text);
    const boot = new Boot({ dir, accel, texts, hasCommands: runCommands(checks) });
    this.#boots.push(boot);
    return boot;
  }

  #running(qemu: Qemu, boot = this.#boots.at(-1) ?? this.#addBoot()): Running {
    return { qemu, guest: boot.guestOf(qemu, this.#machine) };
  }

  /** Ends the machine, starts it again, and runs the checks of the first boot. */
  async #restart(
    { kind }: RestartCheck,
    { qemu, guest }: Running,
    start: () => Promise<Qemu>,
  ): Promise<{ running?: Running; result: CheckResult }> {
    const { name, stop } = restarts[kind];
    const { seconds } = guest.clock;
    if (guest.isOff) return { result: { outcome: "failed", seen: off, seconds } };
    const hasEnded = await orAborted(stop({ qemu, guest }), guest.signal);
    if (!hasEnded) return { result: { outcome: "failed", seen: staysOn, seconds } };
    await qemu[Symbol.asyncDispose]();
    const boot = this.#addBoot();
    const running = this.#running(await start(), boot);
    const results = await this.#lookAt(running.guest);
    return { running, result: { ...this.#summaryOf(results, name), seconds: boot.clock.seconds } };
  }

  /** The results of a later boot, combined into one. */
  #summaryOf(results: readonly CheckResult[], name: string): Seen {
    const login = this.#boots.at(-1)?.loginAt;
    const prompt = login === undefined ? "" : ` A login prompt came after ${login.toFixed(1)} s.`;
    const worst = results.find(({ outcome }) => outcome === "failed") ?? results.find((one) => !hasPassed(one));
    if (!worst) return { outcome: "passed", seen: `${name}, everything was as on the first.${prompt}` };
    const [check] = this.#each.filter((_, index) => results[index] === worst);
    const expected = check ? sentenceOfCheck(check) : "";
    return { outcome: worst.outcome, seen: `${name}: ${worst.seen} Expected: ${expected}`.slice(0, maxSeen) };
  }

  /** Why the machine was not restarted. If the appliance has no check for the login prompt, the restart has one. */
  #notRestarted(first: readonly CheckResult[]): CheckResult {
    const [login] = first;
    const isLoginImplied = !this.#machine.checks.some(isLook);
    if (login && isLoginImplied && !hasPassed(login)) return { ...login, seen: `On the first boot: ${login.seen}` };
    return { ...unknown, seen: "The machine was not restarted, because another check had not passed." };
  }

  async #lookAt(guest: Guest): Promise<CheckResult[]> {
    return await orAborted(this.#resultsOf(guest), guest.signal);
  }

  async #resultsOf(guest: Guest): Promise<CheckResult[]> {
    const look = async (check: LookCheck): Promise<CheckResult> => {
      const seen: Seen = await ways[check.kind].look(check, guest);
      return { ...seen, seconds: guest.clock.seconds };
    };
    const first = this.#each.map((check) => (ways[check.kind].isLast ? undefined : look(check)));
    await Promise.all(first);
    if (first.includes(undefined)) await settle(this.#each, guest);
    // Runs the last checks one after the other, because each reads all open connections.
    const results: CheckResult[] = [];
    for (const [index, check] of this.#each.entries()) results.push((await first[index]) ?? (await look(check)));
    return results;
  }

  /** The end of the console output of all boots, with the last boot at its end. */
  #consoleEnd(): string {
    return this.#boots
      .map(({ console }) => console.end)
      .join("\n")
      .slice(-maxConsoleEnd);
  }

  async #screenOf({ qemu, guest }: Running): Promise<string | null> {
    if (guest.isOff) return null;
    const screen = await takeScreen(qemu, this.#machine).catch(() => undefined);
    return screen?.toString("base64") ?? null;
  }
}

const unknown: CheckResult = { outcome: "not_run", seen: "This could not be checked.", seconds: 0 };

const hasPassed = ({ outcome }: CheckResult): boolean => outcome === "passed";

/** Waits until the machine has booted. */
async function settle(checks: readonly Check[], guest: Guest): Promise<void> {
  const login = checks.find(({ kind }) => kind === "login");
  if (await untilLogin(guest, login?.seconds ?? usualSeconds))
    await sleep(settleMs * guest.slowness, undefined, { signal: guest.signal });
}
