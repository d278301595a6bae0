import { spawn, type ChildProcess } from "node:child_process";
import { open, type FileHandle } from "node:fs/promises";
import { endOf, exitOf, hasSucceeded, killGroup } from "../process.ts";
import { guestCommand, type GuestMachine } from "./machine.ts";
import { eachChunk, eachLine, type Pipe } from "./pipe.ts";
import type { GuestSystem } from "./system.ts";

export interface GuestRun {
  machine: GuestMachine;
  system: GuestSystem;
  /** The read-only disk with the script `run` and its files. */
  job: string;
  /** Blank disks. Their size limits what the job may write. */
  scratch: string;
  result: string;
  /** A directory of the build. After a crash, the agent's next start cleans it up. */
  workDir: string;
  signal: AbortSignal;
  onLine: (line: string) => void;
  /** Called for each line from the port "status" as it arrives: its first word, and the rest. */
  onStatus?: (word: string, rest: string) => void;
}

/** Output beyond these limits is dropped. */
const maxLogBytes = 64 * 1024 * 1024;
const maxStatusBytes = 16 * 1024;
/** The longest time from QEMU's start to the guest's first line. With TCG on a busy host, 15 s were measured. */
const bootLimitMs = 180_000;

/** Runs a job in its own guest until the guest powers off. Aborting kills it immediately. Do not trust its output. */
export async function runGuest(run: GuestRun): Promise<void> {
  await runMachine(guestCommand(run.machine), run);
}

/** Exported for its test. */
export async function runMachine(
  command: ReturnType<typeof guestCommand>,
  run: Omit<GuestRun, "machine">,
  limitMs = bootLimitMs,
): Promise<void> {
  run.signal.throwIfAborted();
  const files = await openFiles(run);
  const slow = new AbortController();
  let boot: NodeJS.Timeout | undefined;
  const { child, said, exited } = await begin(command, files, { ...run, onUp: () => clearTimeout(boot) });
  const kill = () => killGroup(child.pid);
  if (!said.isUp()) boot = setTimeout(() => slow.abort(), limitMs);
  const either = AbortSignal.any([run.signal, slow.signal]);
  either.addEventListener("abort", kill);
  if (either.aborted) kill();
  try {
    const exit = await exited;
    await said.done;
    run.signal.throwIfAborted();
    if (slow.signal.aborted) throw new Error(`the guest did not start: ${said.lastWords()}`);
    if (!hasSucceeded(exit) || !said.isUp())
      throw new Error(`the guest ended with ${endOf(exit)}: ${said.lastWords()}`);
  } catch (error) {
    kill();
    throw error;
  } finally {
    clearTimeout(boot);
    either.removeEventListener("abort", kill);
  }
}

/**
 * Starts the machine and listens at the same time: when a program ends, Node discards its unread output, and reports
 * the end only once.
 */
async function begin(
  command: ReturnType<typeof guestCommand>,
  files: readonly FileHandle[],
  run: Pick<GuestRun, "workDir" | "onLine" | "onStatus"> & { onUp: () => void },
) {
  try {
    const child = start(command, files, run.workDir);
    const exited = exitOf(child);
    exited.catch(() => {}); // thrown where it is awaited
    return { child, exited, said: listen(child, run, run.onUp) };
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
}

/** Opens the files in the order of `descriptors`. */
async function openFiles({ system, job, scratch, result }: Omit<GuestRun, "machine">): Promise<FileHandle[]> {
  const wanted = [
    ...[system.kernel, system.initrd, system.root, job].map((path) => ({ path, flags: "r" })),
    ...[scratch, result].map((path) => ({ path, flags: "r+" })),
  ];
  const opened: FileHandle[] = [];
  try {
    for (const { path, flags } of wanted) opened.push(await open(path, flags));
    return opened;
  } catch (error) {
    await Promise.all(opened.map((file) => file.close()));
    throw error;
  }
}

function start(
  [program, args]: ReturnType<typeof guestCommand>,
  files: readonly FileHandle[],
  cwd: string,
): ChildProcess {
  // Node makes pipes as sockets, and QEMU uses them as sockets.
  return spawn(program, args, {
    cwd,
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", "pipe", ...files.map((file) => file.fd)],
  });
}

function listen(child: ChildProcess, run: Pick<GuestRun, "onLine" | "onStatus">, onUp: () => void) {
  let isUp = false;
  let heard = "";
  const hear = (bytes: Buffer) => void (heard = (heard + bytes.toString("latin1")).slice(-4_000));
  const onStatus = (line: string) => {
    const [, word = "", rest = ""] = /^(\S+) ?(.*)$/.exec(line) ?? [];
    if (word === "up") {
      isUp = true;
      onUp();
    }
    run.onStatus?.(word, rest);
  };
  const [, , complaints, log, status, console]: readonly Pipe[] = child.stdio;
  const done = Promise.all([
    eachLine(log, maxLogBytes, run.onLine),
    eachLine(status, maxStatusBytes, onStatus),
    eachChunk(console, hear),
    eachChunk(complaints, hear),
  ]);
  done.catch(() => {}); // thrown where it is awaited
  const lastWords = () => {
    const lines = heard.trim().split(/[\r\n]+/);
    // The panic's reason comes before a long trace.
    const panic = lines.findLast((line) => line.includes("Kernel panic"));
    return panic?.slice(0, 500) ?? (lines.slice(-3).join(" ").slice(-500) || "it printed nothing");
  };
  return { done, isUp: () => isUp, lastWords };
}
