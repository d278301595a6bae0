import { shellQuote, type Check, type CheckKind } from "../contract.ts";
import {
  endOf,
  failed,
  faultlessInTime,
  ifBooted,
  inTime,
  notRun,
  within,
  type Guest,
  type Seen,
  type Way,
} from "./guest.ts";
import type { CommandEnd } from "./guest-commands.ts";

/** The kinds of checks that run a command in the machine. */
type InsideKind = Extract<CheckKind, "command" | "memory" | "disk">;

/** How each of them is done. */
export const insideWays: Readonly<Record<InsideKind, Way>> = {
  command: { look: lookAtCommand },
  memory: {
    isLast: true,
    look: (check, guest) => lookAtUse(check, guest, { command: "cat /proc/meminfo", kbOf: usedMemory }),
  },
  disk: {
    isLast: true,
    look: (check, guest) => lookAtUse(check, guest, { command: `df -Pk -- ${shellQuote(check.path)}`, kbOf: usedDisk }),
  },
};

/**
 * The pause before a command that has not ended as expected runs again, and the time limit for a command of our own.
 */
const pauseSeconds = 2;
const answerSeconds = 60;

/** Repeats the command until it ends as expected. */
async function lookAtCommand(check: Check, guest: Guest): Promise<Seen> {
  const { commands } = guest;
  if (!commands || !(await inTime(guest, check.seconds, () => commands.isReady))) return noProgram(guest);
  const attempt = async () => faultOf(check, await commands.run(check.command));
  const seen = { success: "The command ended as expected.", silence: "The command did not end." };
  return await faultlessInTime(guest, { seconds: check.seconds, pauseSeconds, ...seen }, attempt);
}

/** Why the result of a command is not the expected one, as a sentence. Empty if it is. */
function faultOf({ exit: wanted, text }: Check, { exit, output }: CommandEnd): string {
  const wrote = output.trim() === "" ? "It wrote nothing." : `It wrote “${output.trim().slice(0, 300)}”.`;
  if (exit !== wanted) return `The command ended with exit code ${exit}. ${wrote}`;
  return output.includes(text) ? "" : `The text is not in the output of the command. ${wrote}`;
}

interface Use {
  command: string;
  /** Undefined if the output does not contain the number. */
  kbOf: (output: string) => number | undefined;
}

async function lookAtUse({ megabytes }: Check, guest: Guest, { command, kbOf }: Use): Promise<Seen> {
  let ended: CommandEnd | undefined;
  let asked: Promise<void> | undefined;
  const hasEnded = () => {
    if (guest.commands?.isReady) asked ??= guest.commands.run(command).then((end) => void (ended = end));
    return ended !== undefined;
  };
  if (!(await within(guest, answerSeconds, hasEnded)) || !ended)
    return asked ? notRun("The machine did not answer.") : noProgram(guest);
  const kb = kbOf(ended.output);
  if (kb === undefined) return failed(guest, `${ended.output.trim() || "The machine does not say it."}`);
  const used = Math.ceil(kb / 1024);
  const seen = `${used} MB are used.`;
  return used <= megabytes ? ifBooted(guest, seen) : failed(guest, seen);
}

/** proc_meminfo(5). Kernels before 3.14 have no MemAvailable. */
function usedMemory(output: string): number | undefined {
  const kb = (name: string) => Number(new RegExp(`^${name}: *(\\d+) kB$`, "m").exec(output)?.[1] ?? Number.NaN);
  const caches = kb("MemFree") + kb("Buffers") + kb("Cached");
  const available = kb("MemAvailable");
  const used = kb("MemTotal") - (Number.isNaN(available) ? caches : available);
  return Number.isNaN(used) ? undefined : used;
}

/** The third column of the last line (POSIX, df). */
function usedDisk(output: string): number | undefined {
  const used = Number(output.trim().split("\n").at(-1)?.split(/ +/)[2]);
  return Number.isNaN(used) ? undefined : used;
}

/** The result if no program in the machine runs commands. */
const noProgram = (guest: Guest): Seen =>
  guest.loginAt === undefined || guest.isOff
    ? failed(guest, `No command could be run. ${endOf(guest)}`)
    : notRun(
        "The image has no program that runs commands for checks. Build it again: an image gets the program if its appliance has such a check.",
      );
