import { spawn, type ChildProcess } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { endOf, type Exit } from "../process.ts";
import { openQmp, type Qmp, type QmpEvent } from "./qmp.ts";
import { rightsOfSession } from "./rights.ts";
import { keepSerialLog } from "./serial-log.ts";
import type { SessionDir } from "./session-dir.ts";

export const qemuProgram = "qemu-system-x86_64";
/** Names inside the session's directory. Relative, because QEMU works there (see SessionDir.socket). */
export const vncSocket = "vnc.sock";
export const serialLogName = "serial.log";
const qmpSocket = "qmp.sock";
const passwordFile = "vnc.password";

export type Accel = "kvm" | "tcg";

export interface Machine {
  testdriveId: number;
  accel: Accel;
  memoryMb: number;
  /** From makeDrives. */
  drives: string[];
  /** The second VNC server, for clients outside of the Worker. */
  vnc: { bindHost: string; port: number; password: string } | null;
}

/** A running virtual machine; disposing of it ends the process. */
export interface Qemu extends AsyncDisposable {
  pid: number;
  /** Settles when the process is gone, with a sentence for the session's owner. */
  ended: Promise<string>;
}

const startTimeoutMs = 20_000;

/** Starts QEMU in the session's directory and waits until its VNC servers accept. */
export async function startQemu(
  machine: Machine,
  dir: SessionDir,
  { onEvent, signal }: { onEvent: (event: QmpEvent) => void; signal: AbortSignal },
): Promise<Qemu> {
  if (machine.vnc) await writeFile(dir.file(passwordFile), machine.vnc.password, { mode: 0o600 });
  // setpriv replaces itself by QEMU, so that the process id is QEMU's.
  const args = ["--no-new-privs", "--", qemuProgram, ...qemuArguments(machine)];
  const child = spawn("setpriv", args, { cwd: dir.path, stdio: ["ignore", "pipe", "pipe"] });
  const complaints = lastLines(child);
  const exited = exitOf(child);
  const logged = keepSerialLog(dir.file(serialLogName), child.stdout).catch(() => void child.kill("SIGKILL"));
  const given = new AbortController();
  let qmp: Qmp | undefined;
  const kill = async () => {
    await end(child, exited, qmp);
    await logged;
  };
  try {
    const inTime = AbortSignal.any([signal, given.signal, AbortSignal.timeout(startTimeoutMs)]);
    const gone = exited.then((exit) => {
      throw new Error(`QEMU did not start: ${complaints.join(" ") || endOf(exit)}`);
    });
    qmp = await Promise.race([openQmp(dir.socket(qmpSocket), onEvent, inTime), gone]);
  } catch (error) {
    given.abort();
    await kill();
    throw error;
  } finally {
    await rm(dir.file(passwordFile), { force: true });
  }
  return {
    pid: child.pid ?? 0,
    ended: exited.then((exit) =>
      "code" in exit && exit.code === 0
        ? "The appliance switched itself off."
        : `The virtual machine ended: ${complaints.join(" ") || endOf(exit)}.`,
    ),
    [Symbol.asyncDispose]: kill,
  };
}

/** Exported for its test. */
export function qemuArguments(machine: Machine): string[] {
  return [
    ["-nodefaults", "-no-user-config", "-name", `kiln-testdrive-${machine.testdriveId}`],
    ["-machine", "pc,vmport=off", ...accelArguments(machine.accel), "-smp", "1", "-m", `${machine.memoryMb}M`],
    ["-nic", "none", "-vga", "std", "-display", "none", "-boot", "menu=off,strict=on"],
    ["-device", "virtio-rng-pci"],
    // Absolute positions, as VNC has them. xHCI works without polling, which under TCG costs a guest its time.
    ["-device", "qemu-xhci", "-device", "usb-tablet"],
    machine.drives,
    // Standard output, because what a guest prints before somebody connects to a socket is lost.
    ["-chardev", "stdio,id=serial,signal=off", "-serial", "chardev:serial"],
    ["-chardev", `socket,id=qmp,path=${qmpSocket},server=on,wait=off`, "-mon", "chardev=qmp,mode=control"],
    // A client that asks to be alone must not throw out the others.
    ["-vnc", `unix:${vncSocket},share=force-shared`],
    machine.vnc ? publicVnc(machine.vnc) : [],
    rightsOfSession(machine.testdriveId),
  ].flat();
}

/** Without tb-size TCG's translations take up to 1 GiB of the host's memory whatever the guest's size. */
export function accelArguments(accel: Accel): string[] {
  return accel === "kvm"
    ? ["-accel", "kvm", "-cpu", "host"]
    : // All that TCG can, because new distributions want x86-64-v2; page tables of five levels only make it slower.
      ["-accel", "tcg,tb-size=128", "-cpu", "max,la57=off"];
}

function publicVnc({ bindHost, port }: { bindHost: string; port: number }): string[] {
  const host = bindHost.includes(":") ? `[${bindHost}]` : bindHost;
  return [
    ["-object", `secret,id=vnc-password,file=${passwordFile}`],
    ["-vnc", `${host}:${port - 5900},password-secret=vnc-password,share=force-shared`],
  ].flat();
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.on("error", () => resolve({ code: -1 }));
    child.on("close", (code, signal) => resolve(signal === null ? { code: code ?? -1 } : { killedBy: signal }));
  });
}

/** The end of what a program complains about, kept up to date. */
function lastLines(child: ChildProcess): string[] {
  const lines: string[] = [];
  if (!child.stderr) return lines;
  createInterface({ input: child.stderr }).on("line", (line) => {
    lines.push(line.slice(0, 200));
    if (lines.length > 3) lines.shift();
  });
  return lines;
}

async function end(child: ChildProcess, exited: Promise<Exit>, qmp: Qmp | undefined): Promise<void> {
  // "quit" lets QEMU close its clients' connections; a QEMU that does not listen is killed all the same.
  qmp?.execute("quit").catch(() => {});
  if (qmp) await Promise.race([exited, sleep(500, undefined, { ref: false })]);
  child.kill("SIGKILL");
  await exited;
  qmp?.[Symbol.dispose]();
}
