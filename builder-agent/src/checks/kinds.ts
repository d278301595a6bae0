import { setTimeout as sleep } from "node:timers/promises";
import { maxSeen, type Check, type CheckKind, type CheckResult } from "../contract.ts";
import type { Qemu } from "../testdrive/qemu.ts";
import type { GuestClock } from "./guest-clock.ts";
import type { GuestConsole } from "./guest-console.ts";
import { getPage, tryPort, type PageAddress, type PortState } from "./ports.ts";

/** A machine whose checks run. */
export interface Guest {
  qemu: Pick<Qemu, "execute" | "endpoints">;
  console: GuestConsole;
  clock: Pick<GuestClock, "seconds">;
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

interface Way {
  /** The check needs a booted machine, so it runs after the others. */
  isLast?: true;
  look: (check: Check, guest: Guest) => Promise<Seen>;
}

/** The kinds of checks for which the machine is restarted (restarts.ts). */
export type RestartKind = Extract<CheckKind, "second_boot" | "power_cut">;

/** How each other kind of check is done. */
export const ways: Readonly<Record<Exclude<CheckKind, RestartKind>, Way>> = {
  login: {
    look: async ({ seconds }, guest) => {
      const isThere = await inTime(guest, seconds, () => guest.loginAt !== undefined);
      if (isThere) return passed(`A login prompt came after ${(guest.loginAt ?? 0).toFixed(1)} s.`);
      return failed(guest, `There was no login prompt. ${endOf(guest)}`);
    },
  },
  console_text: {
    look: async ({ text, seconds }, guest) =>
      (await inTime(guest, seconds, () => guest.console.hasShown(text)))
        ? passed("The text came.")
        : failed(guest, `The text did not come. ${endOf(guest)}`),
  },
  console_lacks: {
    isLast: true,
    look: async ({ text }, guest) =>
      guest.console.hasShown(text) ? failed(guest, "The text came.") : ifBooted(guest, "The text did not come."),
  },
  units: {
    isLast: true,
    look: async (_, guest) => {
      const { failedUnits, showsUnits } = guest.console;
      if (failedUnits.length > 0) return failed(guest, failedUnits.join(" "));
      if (!showsUnits)
        return notRun("The serial console shows no messages of systemd, so a failed unit would not be seen.");
      return ifBooted(guest, "No unit failed.");
    },
  },
  port_open: {
    look: async ({ port, seconds }, guest) => {
      let last = noAnswer;
      const isOpen = async () => {
        const state = await portOf(guest, port);
        last = state === "refused" ? refused : noAnswer;
        return state === "open";
      };
      return (await inTime(guest, seconds, isOpen)) ? passed(accepted) : failed(guest, last);
    },
  },
  port_closed: {
    isLast: true,
    look: async ({ port }, guest) => {
      const state = await portOf(guest, port);
      if (guest.isOff) return notRun(off);
      if (state === "open") return failed(guest, accepted);
      if (state === "refused") return ifBooted(guest, refused);
      // A firewall drops the packets, or the machine has no address. From outside, both look the same.
      return notRun("The machine did not answer: a firewall may drop the packets, or it has no network.");
    },
  },
  http: webPage("http"),
  https: webPage("https"),
};

function webPage(scheme: PageAddress["scheme"]): Way {
  return {
    look: async (check, guest) => {
      let last = noAnswer;
      const isRight = async () => {
        const nobody = `No web server answered on port ${check.port}${scheme === "https" ? " over HTTPS" : ""}.`;
        last = await pageFault({ ...check, scheme }, guest).catch(() => nobody);
        return last === "";
      };
      return (await inTime(guest, check.seconds, isRight)) ? passed("The page is as expected.") : failed(guest, last);
    },
  };
}

const accepted = "The machine accepted a connection.";
const refused = "The machine refused the connection.";
const noAnswer = "The machine did not answer.";
const off = "The machine switched itself off.";

/** A machine that has just ended does not answer, either. */
const portOf = ({ qemu, slowness }: Guest, port: number): Promise<PortState> =>
  tryPort({ qemu, port }, connectMs * slowness).catch(() => "silent");

/** How long the machine may take to answer a connection or a request, before it is tried again. */
const connectMs = 3_000;
const answerMs = 30_000;

const passed = (seen: string): Seen => ({ outcome: "passed", seen: seen.slice(0, maxSeen) });
const notRun = (seen: string): Seen => ({ outcome: "not_run", seen });

const failed = ({ isOff }: Guest, seen: string): Seen => ({
  outcome: "failed",
  seen: `${isOff ? `${off} ` : ""}${seen}`.slice(0, maxSeen),
});

/** If a machine has not booted, the lack of an effect proves nothing. */
const ifBooted = ({ loginAt }: Guest, seen: string): Seen =>
  loginAt === undefined
    ? notRun("The machine did not reach its login prompt, so this could not be checked.")
    : passed(seen);

const endOf = ({ console }: Guest): string =>
  console.lastLine === ""
    ? "There is nothing on the serial console."
    : `The last line on the serial console is “${console.lastLine.slice(-200)}”.`;

/** Returns the fault of the page as a sentence, or an empty text if the page is as expected. */
async function pageFault(
  { scheme, port, path, status, text }: Check & PageAddress,
  { qemu, slowness }: Guest,
): Promise<string> {
  const endpoint = qemu.endpoints.get(port);
  if (!endpoint) throw new Error(`port ${port} is not forwarded`);
  const page = await getPage(endpoint, { scheme, port, path }, answerMs * slowness);
  if (page.status !== status) return `The answer has the status ${page.status}.`;
  if (text === "" || page.body.includes(text)) return "";
  const [line = ""] = page.body.trim().split("\n");
  return line === "" ? "The page is empty." : `The text is not in the page, which begins with “${line.slice(0, 200)}”.`;
}

const everyMs = 250;

/** Repeats the test until it is true, or until the time is over. Returns whether it became true. */
async function inTime(guest: Guest, seconds: number, test: () => boolean | Promise<boolean>): Promise<boolean> {
  for (;;) {
    guest.signal.throwIfAborted();
    if (await test()) return true;
    if (guest.isOff || guest.clock.seconds >= seconds * guest.slowness) return false;
    await sleep(everyMs, undefined, { signal: guest.signal });
  }
}

/** Like `inTime`, but the seconds begin now. */
export const within = (guest: Guest, seconds: number, test: () => boolean): Promise<boolean> =>
  inTime(guest, guest.clock.seconds / guest.slowness + seconds, test);

/** Waits for the login prompt, even if no check is about it. */
export const untilLogin = (guest: Guest, seconds: number): Promise<boolean> =>
  inTime(guest, seconds, () => guest.loginAt !== undefined);
