import { spawn, type ChildProcess } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { endOf, hasSucceeded, killGroup, processorMs, type Exit } from "../process.ts";
import { boundedLines } from "./bounded-lines.ts";
import { diskFailureOf } from "./qmp-events.ts";
import { clientsPort, clientsSocket, forwardedPort, forwardsOf } from "./guest-network.ts";
import { watchKernelStart, type KernelStart } from "./kernel-start.ts";
import { machineArguments, type Machine } from "./machine.ts";
import { qemusBelow } from "./orphans.ts";
import { openQmp, type Qmp, type QmpEvent } from "./qmp.ts";
import { rightsOfSession } from "./rights.ts";
import { keepSerialLog } from "./serial-log.ts";
import type { SessionDir } from "./session-dir.ts";
import { environment, qemuPrograms, sandboxed } from "./session-sandbox.ts";

/** Names relative to the session's directory, in which QEMU runs (see SessionDir.socket). */
export const vncSocket = "vnc.sock";
export const serialLogName = "serial.log";
const qmpSocket = "qmp.sock";
const passwordFile = "vnc.password";

/** A running virtual machine. Dispose of it to end the process. */
export interface Qemu extends AsyncDisposable {
  pid: number;
  /** Leads to the ports of the guest that can be reached. */
  endpoints: ReadonlyMap<number, Endpoint>;
  /**
   * Leads to the VNC server for clients that do not come through the Worker. Null if there is no sandbox, or no such
   * server.
   */
  clients: Endpoint | null;
  /** Settles when the process has ended, with a message for the session's owner. */
  ended: Promise<string>;
  /** Executes a command of QMP. */
  execute: Qmp["execute"];
}

/**
 * The address of a server of QEMU for `net.connect` and `http.request`: a port of this host's loopback, or a socket.
 */
export type Endpoint = { host: string; port: number } | { path: string };

export interface QemuStart {
  onEvent: (event: QmpEvent) => void;
  signal: AbortSignal;
  /** The state to start from. The machine is then paused until "cont". */
  saved?: SavedState;
  /** Gets the output of the serial console as it comes. */
  onConsole?: (chunk: Buffer) => void;
  /** Called when the machine was restarted because its kernel was stuck (kernel-start.ts). */
  onRestart?: () => void;
  /** Uses only idle processor time. */
  isIdle?: boolean;
  startTimeoutMs?: number;
  /** Shorter in tests. */
  kernelLimits?: KernelStart["limits"];
}

export interface SavedState {
  /** Descriptor of the open file with the state. */
  descriptor: number;
  /** The output of the serial console before the state was saved. */
  console: Buffer;
}

const usualStartTimeoutMs = 20_000;

/** Starts QEMU in the session's directory, and waits until its VNC servers accept connections. */
export async function startQemu(machine: Machine, dir: SessionDir, start: QemuStart): Promise<Qemu> {
  const { onEvent, signal, saved, startTimeoutMs = usualStartTimeoutMs } = start;
  if (machine.vnc) await writeFile(dir.file(passwordFile), machine.vnc.password, { mode: 0o600 });
  const [program, args] = commandOf(machine, dir, start);
  const child = spawn(program, args, {
    cwd: dir.path,
    env: environment(),
    // QEMU gets its own process group. Until bubblewrap has tied its child's life to its own, killing bubblewrap alone
    // would leave the child running.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", saved?.descriptor ?? "ignore"],
  });
  const complaints = lastLines(child);
  const exited = exitOf(child);
  const logged = keepSerialLog(dir.file(serialLogName), consoleOf(child, start)).catch(() => killGroup(child.pid));
  let diskFailure: string | undefined;
  const note = (event: QmpEvent) => {
    diskFailure ??= diskFailureOf(event, machine.diskBytes);
    if (diskFailure !== undefined) killGroup(child.pid);
    onEvent(event);
  };
  const given = new AbortController();
  let qmp: Qmp | undefined;
  let endpoints = new Map<number, Endpoint>();
  const kill = () => end(child, exited, qmp).then(() => logged);
  try {
    const inTime = AbortSignal.any([signal, given.signal, AbortSignal.timeout(startTimeoutMs)]);
    const gone = exited.then((exit) => {
      throw new Error(`QEMU did not start: ${complaints.join(" ") || endOf(exit)}`);
    });
    qmp = await Promise.race([openQmp(dir.socket(qmpSocket), note, inTime), gone]);
    endpoints = await endpointsOf(machine, dir, qmp);
  } catch (error) {
    given.abort();
    await kill();
    throw error;
  } finally {
    await rm(dir.file(passwordFile), { force: true });
  }
  if (machine.accel === "tcg" && machine.arch !== "aarch64" && !saved) watchStart(qmp, dir, start);
  return {
    pid: child.pid ?? 0,
    endpoints,
    clients: machine.enclosed && machine.vnc ? { path: dir.socket(clientsSocket) } : null,
    ended: exited.then((exit) => diskFailure ?? reasonOf(exit, complaints)),
    execute: qmp.execute,
    [Symbol.asyncDispose]: kill,
  };
}

function watchStart({ execute }: Qmp, dir: SessionDir, start: QemuStart): void {
  const { signal, onRestart = () => {}, kernelLimits = {} } = start;
  const usedMs = async () => {
    const [pid] = await qemusBelow(dir.path);
    return pid === undefined ? undefined : await processorMs(pid);
  };
  // Rejects when the machine ends.
  watchKernelStart({ execute, usedMs, onRestart, signal, limits: kernelLimits }).catch(() => {});
}

async function endpointsOf(machine: Machine, dir: SessionDir, qmp: Qmp): Promise<Map<number, Endpoint>> {
  const endpoints = new Map<number, Endpoint>();
  for (const { port, socket } of forwardsOf(machine)) {
    const endpoint = machine.enclosed
      ? { path: dir.socket(socket) }
      : { host: "127.0.0.1", port: await forwardedPort(qmp, port) };
    endpoints.set(port, endpoint);
  }
  return endpoints;
}

/** The message if only the guest itself has ended the machine. */
export const switchedOff = "The appliance switched itself off.";

function reasonOf(exit: Exit, complaints: string[]): string {
  if (hasSucceeded(exit)) return switchedOff;
  return `The virtual machine ended: ${complaints.join(" ") || endOf(exit)}.`;
}

/** The first descriptor after standard input, output and error. */
const stateDescriptor = 3;

/** Each of these programs is replaced by the next. In a sandbox, bubblewrap remains as QEMU's ancestor. */
function commandOf(machine: Machine, dir: SessionDir, { saved, isIdle }: QemuStart): [string, string[]] {
  const limits = [`--fsize=${machine.diskBytes}`, "--core=0", "--"];
  const priority = isIdle ? ["chrt", "--idle", "0"] : [];
  const incoming = saved ? ["-incoming", `fd:${stateDescriptor}`] : [];
  const qemu = sandboxed(machine, dir, [
    qemuPrograms[machine.arch ?? "x86_64"],
    ...qemuArguments(machine),
    ...incoming,
  ]);
  return ["prlimit", [...limits, ...priority, "setpriv", "--no-new-privs", "--", ...qemu]];
}

function qemuArguments(machine: Machine): string[] {
  return [
    ["-name", `kiln-testdrive-${machine.testdriveId}`],
    machineArguments(machine),
    ["-chardev", `socket,id=qmp,path=${qmpSocket},server=on,wait=off`, "-mon", "chardev=qmp,mode=control"],
    // A client that requests exclusive access must not disconnect the others.
    ["-vnc", `unix:${vncSocket},share=force-shared`],
    machine.vnc ? publicVnc(machine.enclosed ? { bindHost: "127.0.0.1", port: clientsPort } : machine.vnc) : [],
    rightsOfSession(machine.testdriveId),
  ].flat();
}

function publicVnc({ bindHost, port }: { bindHost: string; port: number }): string[] {
  const host = bindHost.includes(":") ? `[${bindHost}]` : bindHost;
  return [
    ["-object", `secret,id=vnc-password,file=${passwordFile}`],
    ["-vnc", `${host}:${port - 5900},password-secret=vnc-password,share=force-shared`],
  ].flat();
}

async function* consoleOf(child: ChildProcess, { saved, onConsole }: QemuStart): AsyncIterable<Buffer> {
  if (saved) yield saved.console;
  const output: AsyncIterable<Buffer> = child.stdout ?? Readable.from([]);
  for await (const chunk of output) {
    onConsole?.(chunk);
    yield chunk;
  }
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.on("error", () => resolve({ code: -1 }));
    child.on("close", (code, signal) => resolve(signal === null ? endOfCode(code ?? -1) : { killedBy: signal }));
  });
}

/** A program in between reports the signal that ended QEMU as an exit code. */
function endOfCode(code: number): Exit {
  const names = Object.entries(constants.signals).flatMap(([name, number]) => (number === code - 128 ? [name] : []));
  const [killedBy] = names.filter(isSignal);
  return killedBy === undefined ? { code } : { killedBy };
}

const isSignal = (name: string): name is NodeJS.Signals => name in constants.signals;

/** The last lines of standard error, updated as they arrive. */
function lastLines(child: ChildProcess): string[] {
  const lines: string[] = [];
  if (!child.stderr) return lines;
  boundedLines(child.stderr).on("line", (line) => {
    lines.push(line.slice(0, 200));
    if (lines.length > 3) lines.shift();
  });
  return lines;
}

async function end(child: ChildProcess, exited: Promise<Exit>, qmp: Qmp | undefined): Promise<void> {
  // "quit" lets QEMU close the connections of its clients. It is killed afterwards in any case.
  qmp?.execute("quit").catch(() => {});
  if (qmp) await Promise.race([exited, sleep(500, undefined, { ref: false })]);
  killGroup(child.pid);
  await exited;
  qmp?.[Symbol.dispose]();
}
