import { setTimeout as sleep } from "node:timers/promises";
import { maxSeen, type Check, type CheckResult } from "../contract.ts";
import type { Qemu } from "../testdrive/qemu.ts";
import type { GuestClock } from "./guest-clock.ts";
import type { GuestCommands } from "./guest-commands.ts";
import type { GuestConsole } from "./guest-console.ts";

/** A machine whose checks run. */
export interface Guest {
  qemu: Pick<Qemu, "execute" | "endpoints">;
  console: GuestConsole;
  clock: Pick<GuestClock, "seconds">;
  /** Undefined if no check runs a command. */
  commands: GuestCommands | undefined;
  /** The last screen of a build, as PNG. Undefined if there is none. */
  readScreen: (buildId: number) => Promise<Buffer | undefined>;
  /** The machine's screen, as PNG. */
  takeScreen: () => Promise<Buffer>;
  /** How many of the guest's seconds count as one, because an emulated processor is slower. */
  slowness: number;
  /** The guest's seconds until its login prompt. Undefined as long as there was none. */
  loginAt: number | undefined;
  /** Whether it has switched itself off. */
  isOff: boolean;
  /** Whether its power was cut, which ends QEMU in a way that is otherwise an error. */
  isCut: boolean;
  /** Aborted when the session ends. */
  signal: AbortSignal;
}

export type Seen = Pick<CheckResult, "outcome" | "seen">;

/** How a kind of check is done. */
export interface Way {
  /** The check needs a booted machine, so it runs after the others. */
  isLast?: true;
  look: (check: Check, guest: Guest) => Promise<Seen>;
}

export const off = "The machine switched itself off.";

export const passed = (seen: string): Seen => ({ outcome: "passed", seen: seen.slice(0, maxSeen) });
export const notRun = (seen: string): Seen => ({ outcome: "not_run", seen });

export const failed = ({ isOff }: Guest, seen: string): Seen => ({
  outcome: "failed",
  seen: `${isOff ? `${off} ` : ""}${seen}`.slice(0, maxSeen),
});

/** The result of a check that looks for the lack of an effect, which proves nothing if the machine has not booted. */
export const ifBooted = ({ loginAt }: Guest, seen: string): Seen =>
  loginAt === undefined
    ? notRun("The machine did not reach its login prompt, so this could not be checked.")
    : passed(seen);

export const endOf = ({ console }: Guest): string =>
  console.lastLine === ""
    ? "There is nothing on the serial console."
    : `The last line on the serial console is “${console.lastLine.slice(-200)}”.`;

const everyMs = 250;

/** Repeats the test until it is true, or until the time is over. Returns whether it became true. */
export async function inTime(guest: Guest, seconds: number, test: () => boolean | Promise<boolean>): Promise<boolean> {
  for (;;) {
    guest.signal.throwIfAborted();
    if (await test()) return true;
    if (guest.isOff || guest.clock.seconds >= seconds * guest.slowness) return false;
    await sleep(everyMs, undefined, { signal: guest.signal });
  }
}

/** Like `inTime`, but the seconds begin now. */
export const within = (guest: Guest, seconds: number, test: () => boolean | Promise<boolean>): Promise<boolean> =>
  inTime(guest, guest.clock.seconds / guest.slowness + seconds, test);

interface Attempts {
  seconds: number;
  /** The pause between two attempts. */
  pauseSeconds?: number;
  /** The text of the result if an attempt finds no fault. */
  success: string;
  /** The text of the result if no attempt has ended. */
  silence: string;
}

/**
 * Repeats an attempt until it finds no fault, or until the time is over. An attempt may still be running then. It
 * returns the fault as a sentence, or an empty text. The result has the fault that was found last. Rejects if an
 * attempt does.
 */
export async function faultlessInTime(
  guest: Guest,
  { seconds, pauseSeconds = 0, success, silence }: Attempts,
  attempt: () => Promise<string>,
): Promise<Seen> {
  let fault: string | undefined;
  let nextAt = 0;
  const { promise: rejected, reject } = Promise.withResolvers<never>();
  const run = async () => {
    nextAt = Infinity;
    fault = await attempt();
    nextAt = guest.clock.seconds + pauseSeconds * guest.slowness;
  };
  const hasNone = () => {
    if (fault !== "" && guest.clock.seconds >= nextAt) run().catch(reject);
    return fault === "";
  };
  await Promise.race([rejected, inTime(guest, seconds, hasNone)]);
  return fault === "" ? passed(success) : failed(guest, fault ?? silence);
}

/** Waits for the login prompt, even if no check is about it. */
export const untilLogin = (guest: Guest, seconds: number): Promise<boolean> =>
  inTime(guest, seconds, () => guest.loginAt !== undefined);
