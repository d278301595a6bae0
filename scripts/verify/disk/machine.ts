import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { chooseAccel } from "../../../builder-agent/src/doctor/acceleration.ts";
import type { Accel } from "../../../builder-agent/src/sandbox.ts";
import { machineArguments } from "../../../builder-agent/src/testdrive/machine.ts";
import { type FirmwareKeys, makeSecureFirmware } from "../../../builder-agent/src/testdrive/secure-boot.ts";
import { makeSessionDir, type SessionDir } from "../../../builder-agent/src/testdrive/session-dir.ts";
import { startTpm } from "../../../builder-agent/src/testdrive/tpm.ts";
import { command } from "../../launch/command.ts";
import { Complaint } from "../../launch/complaint.ts";
import { SerialConsole } from "../console.ts";

/** A machine that runs, with a serial line to type on. Disposing of it is a power cut, also while it is paused. */
export type Running = AsyncDisposable & { console: SerialConsole; pause: () => void; resume: () => void };

/** The parts of a machine that survive a power cut, apart from its disk. */
export interface Home {
  dir: SessionDir;
  accel: Accel;
  /** The arguments for UEFI, with the machine's own variables and with Secure Boot on. */
  firmware: string[];
  /** The file of everything that its serial line printed, in all its boots. */
  printed: string;
}

/** The end of the name of such a file. */
export const printedEnding = ".console";

export async function makeHome(
  folder: string,
  name: string,
  keys: FirmwareKeys = "ms",
): Promise<Home & AsyncDisposable> {
  const dir = await makeSessionDir(folder, name);
  const firmware = await makeSecureFirmware(dir, { keys });
  if (!firmware) throw new Complaint("Install the package ovmf.");
  const accel = await chooseAccel({ accel: "auto", stateDir: folder });
  return {
    dir,
    accel,
    firmware,
    printed: join(folder, `${name}${printedEnding}`),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}

interface Start {
  home: Home;
  /** QEMU's arguments for its drives. */
  drives: string[];
  /** Whether it starts with UEFI and Secure Boot, and has a TPM. Otherwise it starts with BIOS. */
  hasTpm: boolean;
  /** Other arguments of QEMU. */
  others?: readonly string[];
}

const memoryMb = 1024;

/** Starts a machine like that of a testdrive. */
export async function startMachine(
  { home, drives, hasTpm, others = [] }: Start,
  signal: AbortSignal,
): Promise<Running> {
  const { dir, accel } = home;
  await using parts = new AsyncDisposableStack();
  const tpm = hasTpm ? await startTpm(dir, signal) : undefined;
  if (hasTpm && !tpm) throw new Complaint("Install the package swtpm.");
  if (tpm) parts.use(tpm);
  const args = machineArguments({
    testdriveId: 1,
    accel,
    memoryMb,
    drives,
    firmware: hasTpm ? home.firmware : undefined,
    tpm: tpm?.args,
    seed: [],
    image: "",
    enclosed: false,
    hasNetwork: false,
    diskBytes: Infinity,
    vnc: null,
  });
  const stdio = ["pipe", "pipe", "inherit"] as const;
  const qemu = spawn("qemu-system-x86_64", [...args, "-no-reboot", ...others], { cwd: dir.path, stdio: [...stdio] });
  const ended = new Promise<void>((resolve) => qemu.on("error", () => resolve()).on("close", () => resolve()));
  parts.defer(async () => {
    qemu.kill("SIGKILL");
    await ended;
  });
  qemu.stdout.on("data", (bytes: Buffer) => appendFileSync(home.printed, bytes));
  const all = parts.move();
  return {
    console: new SerialConsole(qemu.stdout, qemu.stdin),
    pause: () => qemu.kill("SIGSTOP"),
    resume: () => qemu.kill("SIGCONT"),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** QEMU's arguments for a disk in qcow2. The BIOS would try only one of two disks. */
export const bootedFrom = (disk: string): string[] => [
  "-drive",
  `file=${disk},format=qcow2,if=none,id=disk`,
  "-device",
  "virtio-blk-pci,drive=disk,bootindex=0",
];

/** A new disk above the image, which is larger, so that the root grows. */
export async function newDisk(image: string, disk: string): Promise<void> {
  await command("qemu-img", ["create", "-q", "-f", "qcow2", "-F", "raw", "-b", image, disk]);
  await command("qemu-img", ["resize", "-q", disk, "+1G"]);
}
